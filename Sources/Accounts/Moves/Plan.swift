import OpenSSL
import Text

/// What holds a swap or a merge to the plan that the user saw: `If-Match` (accounts §1.9, §3.1).
package enum Precondition: Sendable, Equatable {
    case none
    case plan(anyOf: [String])

    /// - Throws: `planChanged` unless the plan as it is now is among those accepted.
    func check(against plan: @autoclosure () throws -> String) throws {
        guard case .plan(let accepted) = self else { return }
        if !accepted.contains(try plan()) { throw Failure.planChanged }
    }
}

/// The name of a plan: unpadded base64url of SHA-256 over what it does, line by line in a fixed order.
func planName(_ lines: [String]) -> String { Base64URL.encode(sha256(lines.joined(separator: "\n").utf8)) }
