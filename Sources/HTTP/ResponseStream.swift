/// What is too large to hold: read while it is sent, once.
package protocol ResponseStream: AnyObject, Sendable {
    /// In bytes: the sum of all parts.
    var length: Int { get }

    /// The next part, at most `count` bytes; empty exactly at the end.
    func read(atMost count: Int) throws -> [UInt8]
}
