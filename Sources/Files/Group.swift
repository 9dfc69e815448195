internal import Glibc

/// A group of the operating system.
package struct Group: Equatable, Sendable {
    package let number: UInt32

    /// nil if there is no such group.
    ///
    /// - Parameter name: a name or a number.
    package init?(_ name: String) {
        if let number = UInt32(name) {
            self.number = number
        } else if let entry = getgrnam(name) {
            number = entry.pointee.gr_gid
        } else {
            return nil
        }
    }
}
