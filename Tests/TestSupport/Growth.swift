import Glibc

/// How many times the work costs when its input is four times as large: about 4 when cost is linear, 5 when it is
/// n log n, 16 when it is quadratic. A test asks for less than ``quasilinear``.
///
/// Cost is this thread's processor time, so neighbors on a busy machine don't count, nor does work that others do: a
/// router called in process is seen whole, but for its database. Sizes take turns, and the cheapest run of each counts.
/// Choose the size so that four times as much is the largest input that limits allow.
///
///     #expect(try growth(from: 2_000, input: { n in form(scopes: n) }) { try client.send($0) } < quasilinear)
///
/// - Parameters:
///   - size: of the smaller input; the larger has four times as much.
///   - runs: of each size.
///   - input: makes an input of the size; not measured, and made anew for every run.
///   - work: what is measured.
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

/// Between n log n and n², with room for both.
package let quasilinear = 9.0

/// Processor time of this thread, in seconds.
private func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
