import Glibc
import Synchronization

/// Takes whole lines from any thread and writes each with one `write(2)`, so that lines never mix.
package final class LineSink: Sendable {
    package static let standardError = LineSink(descriptor: STDERR_FILENO)

    private let descriptor: Int32
    /// Held for a line that takes several calls: the descriptor is full, or a signal came.
    private let turn = Mutex(())

    /// - Parameter descriptor: stays its owner's.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter line: without line break. Lost when nobody reads the descriptor any more: there is no other place
    ///   to complain.
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
