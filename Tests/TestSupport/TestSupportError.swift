import Glibc

/// Why something that a test needs could not be set up.
package struct TestSupportError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// - Parameter code: an `errno` value.
    package init(_ what: String, code: Int32) { description = "\(what): \(String(cString: strerror(code)))" }
}
