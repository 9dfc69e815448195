internal import Glibc

/// A system call that failed, or surroundings that cannot be used.
package struct FastCGIError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// - Parameter call: what failed; the reason is taken from `errno`.
    init(call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// Has a failed system call throw.
@discardableResult
func check(_ result: Int32, _ call: @autoclosure () -> String) throws(FastCGIError) -> Int32 {
    if result < 0 { throw FastCGIError(call: call()) }
    return result
}
