package import Files
package import Time

/// Where the bytes of attachments are, equal ones once, by their digest (analytics §11.2).
package protocol AttachmentStore: Sendable {
    /// Takes a stream, hashed on the way, and returns when it is on disk. It has no name yet: unless it is kept, nothing is
    /// left of it.
    ///
    /// - Parameters:
    ///   - limit: no more is read once there are more bytes than that.
    ///   - next: the next part; empty at the end.
    /// - Throws: `FileError`, or what `next` throws.
    func put(atMost limit: Int64, _ next: () throws -> [UInt8]) throws -> any StagedContent

    /// Where the bytes of a digest are, below what the store keeps them in: hexadecimal digits and slashes.
    func location(of digest: ContentDigest) -> String

    /// Nil when there is none.
    func open(_ digest: ContentDigest) throws(FileError) -> StoredFile?

    /// - Returns: false when there was none.
    func remove(_ digest: ContentDigest) throws(FileError) -> Bool

    /// Visits all digests in batches, in no order.
    func list(_ visit: ([ContentDigest]) throws -> Void) throws

    /// Streams that ended with their process: what was staged, and last written before then.
    func abandoned(before time: Timestamp) throws(FileError) -> [AbandonedContent]
}

/// Bytes on disk that nobody finds until they are kept.
package protocol StagedContent {
    var size: Int64 { get }
    var digest: ContentDigest { get }

    /// Has the store keep it under its digest, in place of an equal one, and returns when the name is on disk. Another
    /// call changes nothing.
    func keep() throws(FileError)
}

/// What a process left behind in the middle of a stream.
package struct AbandonedContent: Sendable {
    let path: String

    package func remove() throws(FileError) -> Bool { try Folder.remove(file: path) }
}
