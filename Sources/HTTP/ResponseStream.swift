/// A body that is too large for memory. It is read once, while it is sent.
package protocol ResponseStream: AnyObject, Sendable {
    /// The length of all parts together, in bytes.
    var length: Int { get }

    /// The next part, at most `count` bytes; empty exactly at the end.
    func read(atMost count: Int) throws -> [UInt8]
}
