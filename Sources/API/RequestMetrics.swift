import HTTP
import Synchronization

/// Counts requests by route, method and status, with their latencies, and how long they waited for a worker.
///
/// Each worker thread writes its own shard, so that its lock is not contended. Readers add the shards up.
package final class RequestMetrics: Sendable {
    package struct Key: Hashable, Sendable {
        /// The route's pattern, never the path, because there must be few labels.
        package let route: String
        package let method: String
        package let status: Int
    }

    /// What was refused, and with which error code. Only `/api`, `/oauth` and the pages have codes.
    package struct Refusal: Hashable, Sendable {
        package let route: String
        package let code: String
    }

    package struct Series: Sendable {
        package var count = 0
        package var seconds = 0.0
        /// The number of requests in each interval of `bounds`, not cumulative. The last interval has no upper bound.
        package var buckets = [Int](repeating: 0, count: RequestMetrics.bounds.count + 1)
    }

    package struct Snapshot: Sendable {
        package var series: [Key: Series] = [:]
        package var refusals: [Refusal: Int] = [:]
        /// For all requests: the time from when nginx sent the request until a worker took it.
        package var waits = Series()
    }

    /// Upper bounds of the latency histogram, in seconds.
    package static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let shards = Mutex<[Shard]>([])

    /// The counts of one thread.
    package final class Shard: Sendable {
        fileprivate let counts = Mutex(Snapshot())

        func record(
            route: String, _ method: Method, _ response: Response, _ elapsed: Duration, waited: Duration
        ) {
            // Clients can send any method, so only those of known routes become labels.
            let label = route == "unmatched" ? "other" : method.rawValue
            counts.withLock {
                $0.series[Key(route: route, method: label, status: response.status.code), default: Series()]
                    .add(elapsed)
                if let code = response.refusal { $0.refusals[Refusal(route: route, code: code), default: 0] += 1 }
                $0.waits.add(waited)
            }
        }
    }

    func makeShard() -> Shard {
        let shard = Shard()
        shards.withLock { $0.append(shard) }
        return shard
    }

    package func snapshot() -> Snapshot {
        shards.withLock { $0 }.reduce(into: Snapshot()) { sum, shard in
            let counts = shard.counts.withLock { $0 }
            for (key, series) in counts.series { sum.series[key, default: Series()].add(series) }
            for (refusal, count) in counts.refusals { sum.refusals[refusal, default: 0] += count }
            sum.waits.add(counts.waits)
        }
    }
}

extension RequestMetrics.Series {
    fileprivate mutating func add(_ time: Duration) {
        let seconds = time.inSeconds
        count += 1
        self.seconds += seconds
        buckets[RequestMetrics.bounds.firstIndex { seconds <= $0 } ?? RequestMetrics.bounds.count] += 1
    }

    fileprivate mutating func add(_ other: Self) {
        count += other.count
        seconds += other.seconds
        for index in buckets.indices { buckets[index] += other.buckets[index] }
    }
}
