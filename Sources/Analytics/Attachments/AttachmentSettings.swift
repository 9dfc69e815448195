package import Files

/// Where attachments are stored, and how large one may be (analytics §15).
package struct AttachmentSettings: Sendable {
    /// An absolute path.
    package var directory: String
    /// The largest size of one file, in bytes.
    package var maximumSize: Int64
    /// The key that signs download links.
    package var secret: [UInt8]
    /// Another group that may read stored files; nil for none.
    package var readers: Group?

    package init(directory: String, maximumSize: Int64 = 262_144_000, secret: [UInt8], readers: Group? = nil) {
        self.directory = directory
        self.maximumSize = maximumSize
        self.secret = secret
        self.readers = readers
    }
}
