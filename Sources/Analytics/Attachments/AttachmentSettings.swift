package import Files

/// Where attachments are kept, and how large one may be (analytics §15).
package struct AttachmentSettings: Sendable {
    /// An absolute path.
    package var directory: String
    /// Of one file, in bytes.
    package var maximumSize: Int64
    /// Signs download links.
    package var secret: [UInt8]
    /// Who else may read what is kept; nil: nobody.
    package var readers: Group?

    package init(directory: String, maximumSize: Int64 = 262_144_000, secret: [UInt8], readers: Group? = nil) {
        self.directory = directory
        self.maximumSize = maximumSize
        self.secret = secret
        self.readers = readers
    }
}
