internal import Glibc

/// A file that several processes add lines to.
package enum Spool {
    /// Writes the line with one call, so that no other stands in it. Creates the file for its owner alone.
    ///
    /// - Parameter line: without a line break.
    package static func append(_ line: [UInt8], to path: String) throws(FileError) {
        let file = try Descriptor(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
        try System.write(line + [UInt8(ascii: "\n")], to: file)
    }
}
