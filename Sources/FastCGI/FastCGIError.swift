internal import Glibc

// This target owns the way from nginx to a handler: the listening socket, the accept loop and its threads, FastCGI
// records (parsed by libfcgi), the drain, and what a service manager wants to know. It knows no routes.

/// A system call that failed, or an environment that cannot be used.
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
