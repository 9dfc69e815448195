import Glibc
import Synchronization

/// Writes each whole line with one `write(2)`, from any thread, so that lines never mix.
package final class LineSink: Sendable {
    package static let standardError = LineSink(descriptor: STDERR_FILENO)

    private let descriptor: Int32
    /// Held while a line takes several calls, because the descriptor is full or a signal came.
    private let turn = Mutex(())

    /// - Parameter descriptor: the caller keeps its ownership.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter line: without a line break. The line is lost if nobody reads the descriptor any more, because there
    ///   is no other place to report that.
    func write(_ line: [UInt8]) {
        var rest = (line + [UInt8(ascii: "\n")])[...]
        turn.withLock { _ in
            while !rest.isEmpty {
                let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if written < 0 {
                    guard errno == EINTR else { return }
                } else {
                    rest = rest.dropFirst(written)
                }
            }
        }
    }
}
