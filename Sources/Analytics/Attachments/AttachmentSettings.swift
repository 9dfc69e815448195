package import Files

/// Where attachments are kept, and how large one may be (analytics §15).
package struct AttachmentSettings: Sendable {
    /// An absolute path.
    package var directory: String
    /// Of one file, in bytes.
    package var maximumSize: Int64
    /// Signs download links.
    package var secret: [UInt8]
    /// How far an upload may fall behind the least rate.
    package var uploadPatience: Duration
    /// Who sends the bytes of a download.
    package var sender: Sender
    /// nginx's group, when it is another than the process's.
    package var nginxGroup: Group?

    package enum Sender: String, Sendable, CaseIterable {
        /// nginx, which has the folder: the server tells it the file.
        case nginx
        /// The server itself.
        case worker
    }

    package init(
        directory: String, maximumSize: Int64 = 262_144_000, secret: [UInt8],
        uploadPatience: Duration = .seconds(30), sender: Sender = .nginx, nginxGroup: Group? = nil
    ) {
        self.directory = directory
        self.maximumSize = maximumSize
        self.secret = secret
        self.uploadPatience = uploadPatience
        self.sender = sender
        self.nginxGroup = nginxGroup
    }
}
