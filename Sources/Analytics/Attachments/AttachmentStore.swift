package import Files
package import Time

/// Stores the bytes of attachments under their digest, equal ones once (analytics §11.2).
package protocol AttachmentStore: Sendable {
    /// Reads a stream, hashes it on the way, and returns when the bytes are on disk. They have no name yet: if `keep`
    /// is not called, they are removed.
    ///
    /// - Parameters:
    ///   - limit: reading stops when there are more bytes than this.
    ///   - next: returns the next part, and an empty one at the end.
    /// - Throws: `FileError`, or what `next` throws.
    func put(atMost limit: Int64, _ next: () throws -> [UInt8]) throws -> any StagedContent

    /// The path of a content below the store's folder: hexadecimal digits and slashes.
    func location(of digest: ContentDigest) -> String

    /// - Returns: nil if the store has no such content.
    func open(_ digest: ContentDigest) throws(FileError) -> StoredFile?

    /// - Returns: false if the store had no such content.
    func remove(_ digest: ContentDigest) throws(FileError) -> Bool

    /// Passes all digests to `visit` in batches, in no particular order.
    func list(_ visit: ([ContentDigest]) throws -> Void) throws

    /// Streams whose process ended before they did: staged bytes that were last written before `time`.
    func abandoned(before time: Timestamp) throws(FileError) -> [AbandonedContent]
}

/// Bytes on disk that cannot be found until `keep` is called.
package protocol StagedContent {
    var size: Int64 { get }
    var digest: ContentDigest { get }

    /// Stores the bytes under their digest, in place of equal ones, and returns when the name is on disk. Calling it
    /// again has no effect.
    func keep() throws(FileError)
}

/// The bytes of a stream whose process ended before the stream did.
package struct AbandonedContent: Sendable {
    let path: String

    package func remove() throws(FileError) -> Bool { try Folder.remove(file: path) }
}
