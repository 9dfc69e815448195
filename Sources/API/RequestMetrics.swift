import HTTP
import Synchronization

/// Counts of requests by route, method and status, with their latencies.
///
/// Each worker thread writes a shard of its own, so that counting costs an uncontended lock; readers add the shards up.
package final class RequestMetrics: Sendable {
    package struct Key: Hashable, Sendable {
        /// The route's pattern, never the path: labels must be few.
        package let route: String
        package let method: String
        package let status: Int
    }

    package struct Series: Sendable {
        package var count = 0
        package var seconds = 0.0
        /// How many took at most each of `bounds`, not cumulative; the last is for all that took longer.
        package var buckets = [Int](repeating: 0, count: RequestMetrics.bounds.count + 1)
    }

    /// Upper bounds of the latency histogram, in seconds.
    package static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let shards = Mutex<[Shard]>([])

    /// What one thread writes.
    package final class Shard: Sendable {
        fileprivate let series = Mutex<[Key: Series]>([:])

        func record(route: String, _ method: Method, _ status: Status, _ elapsed: Duration) {
            let seconds = elapsed.inSeconds
            let bucket = RequestMetrics.bounds.firstIndex { seconds <= $0 } ?? RequestMetrics.bounds.count
            // Anybody may invent methods; only the known ones become labels.
            let label = route == "unmatched" ? "other" : method.rawValue
            series.withLock {
                $0[Key(route: route, method: label, status: status.code), default: Series()].add(seconds, bucket)
            }
        }
    }

    func makeShard() -> Shard {
        let shard = Shard()
        shards.withLock { $0.append(shard) }
        return shard
    }

    package func snapshot() -> [Key: Series] {
        shards.withLock { $0 }.reduce(into: [:]) { sum, shard in
            for (key, series) in shard.series.withLock({ $0 }) { sum[key, default: Series()].add(series) }
        }
    }
}

extension RequestMetrics.Series {
    fileprivate mutating func add(_ seconds: Double, _ bucket: Int) {
        count += 1
        self.seconds += seconds
        buckets[bucket] += 1
    }

    fileprivate mutating func add(_ other: Self) {
        count += other.count
        seconds += other.seconds
        for index in buckets.indices { buckets[index] += other.buckets[index] }
    }
}
