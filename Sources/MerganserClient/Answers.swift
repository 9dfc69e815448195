package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension HTTPURLResponse {
    /// Whether the server decided. What fails on the way to it, or in it, decides nothing; nor does an answer in another
    /// shape, such as the sign-in page of a hotel's network.
    ///
    /// A refusal has `error`, or `code` in shape B (analytics §2.3).
    package func isDefinite(_ body: Data) -> Bool {
        struct Anything: Decodable {
            init(from decoder: any Decoder) {}
        }
        guard statusCode != 204 else { return true }
        guard let members = try? JSONDecoder().decode([String: Anything].self, from: body) else { return false }
        return switch statusCode {
        case 200..<300: true
        case 408, 425, 429: false
        case 400..<500: members["error"] != nil || members["code"] != nil
        default: false
        }
    }

    /// How long the server asks to wait (RFC 9110 §10.2.3). A date counts from the answer's own, whatever the device's is.
    package var retryAfter: Duration? {
        guard let field = value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = Int(field) { return .seconds(max(0, seconds)) }
        guard let date = ServerClock.httpDate(field),
            let now = value(forHTTPHeaderField: "Date").flatMap(ServerClock.httpDate)
        else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
