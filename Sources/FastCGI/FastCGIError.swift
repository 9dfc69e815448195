internal import Glibc

/// A system call failed, or the environment is not usable.
package struct FastCGIError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// - Parameter call: the system call that failed; `errno` has the reason.
    init(call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// Throws if a system call has failed.
@discardableResult
func check(_ result: Int32, _ call: @autoclosure () -> String) throws(FastCGIError) -> Int32 {
    if result < 0 { throw FastCGIError(call: call()) }
    return result
}
