import Glibc

/// How many times the work costs if its input is four times as large: about 4 for linear cost, 5 for n log n, 16 for
/// quadratic cost. A test requires less than ``quasilinear``.
///
/// The cost is this thread's processor time, so other processes and threads do not count. A router that is called in
/// process is measured completely, except for its database. The sizes take turns, and the cheapest run of each counts.
/// Choose the size so that four times as much is the largest input that the limits allow.
///
///     #expect(try growth(from: 2_000, input: { n in form(scopes: n) }) { try client.send($0) } < quasilinear)
///
/// - Parameters:
///   - size: the smaller size; the larger input has four times as much.
///   - runs: the number of runs of each size.
///   - input: makes an input of a size. It is not measured, and is called for every run.
///   - work: the work to measure.
package func growth<Input>(
    from size: Int, runs: Int = 7, input: (Int) throws -> Input, work: (Input) throws -> Void
) throws -> Double {
    func cost(_ size: Int) throws -> Double {
        let input = try input(size)
        let start = threadTime()
        try work(input)
        return threadTime() - start
    }
    // Caches, lazy globals and prepared statements.
    _ = try cost(size)
    var (small, large) = (Double.infinity, Double.infinity)
    for _ in 0..<runs {
        small = min(small, try cost(size))
        large = min(large, try cost(4 * size))
    }
    return large / small
}

/// Between n log n and n², with a margin on both sides.
package let quasilinear = 9.0

/// Processor time of this thread, in seconds.
private func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
