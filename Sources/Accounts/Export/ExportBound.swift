/// How large an export may be, and how long the server may read it, while somebody waits for the answer (accounts §4.8).
package struct ExportBound: Sendable {
    package var bytes: Int
    package var time: Duration

    package init(bytes: Int, time: Duration) {
        self.bytes = bytes
        self.time = time
    }

    /// nginx waits 35 s for the answer, which begins when the document is complete; the last statement may take 12 s of
    /// them. For a slow reader the document waits on nginx's disk, as downloads do that are about as large.
    package static let standard = ExportBound(bytes: 256 << 20, time: .seconds(20))

    /// Counts what an export has written.
    package final class Meter {
        private let bound: ExportBound
        private let start: ContinuousClock.Instant
        private var bytes = 0

        /// - Parameter start: when the export began, be it with a read that was interrupted.
        package init(_ bound: ExportBound, since start: ContinuousClock.Instant) {
            self.bound = bound
            self.start = start
        }

        /// - Throws: `accountTooLarge` if that is too much, or comes too late.
        package func count(_ bytes: Int) throws(Failure) {
            self.bytes += bytes
            if self.bytes > bound.bytes || ContinuousClock.now - start > bound.time { throw .accountTooLarge }
        }
    }
}
