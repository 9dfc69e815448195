import Foundation
import Glibc
import MerganserAnalytics
import MerganserClient

/// Measures what reporting an event costs an app: its caller's thread, and each stage of the background.
///
/// Arguments: none. Reads MERGANSER_URL, MERGANSER_CLIENT_KEY and MERGANSER_BUNDLE_ID, as `scripts/instance beside` sets
/// them. Prints JSON: microseconds of CPU for an event, and of waiting for a call.
@main struct Main {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["MERGANSER_URL"].flatMap({ URL(string: $0) }),
            let key = environment["MERGANSER_CLIENT_KEY"]
        else { exit(64) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "client-bench-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var config = AnalyticsConfig(
            endpoint: url, key: key, bundleID: environment["MERGANSER_BUNDLE_ID"],
            device: DeviceDescription(
                environment: .ios, osVersion: "17.4.1", appVersion: "3.2.0", buildNumber: "412",
                deviceModel: "iPhone15,2", locale: "en_DE", preferredLanguage: "de-DE",
                supportedLanguages: ["en", "fr"]), folder: folder)
        config.uploadDelay = .seconds(3600)
        config.queueSize = 1 << 30
        let reporter = try AnalyticsReporter(config)
        var figures: [(String, Double)] = []
        figures += await calls(of: reporter)
        figures += try await stages(config)
        let lines = figures.map { "  \"\($0.0)\": \((($0.1 * 100).rounded() / 100))" }
        print("{\n" + lines.joined(separator: ",\n") + "\n}")
    }

    /// What `track` costs its caller, in bursts as an app makes them and one by one.
    private static func calls(of reporter: AnalyticsReporter) async -> [(String, Double)] {
        func report(_ number: Int) {
            reporter.track("Opened page", screen: "Page", attributes: attributes(number))
        }
        for number in 0..<1000 { report(number) }
        await reporter.persist()

        var waits: [UInt64] = []
        var spent: UInt64 = 0
        let (rounds, burst) = (200, 500)
        waits.reserveCapacity(rounds * burst)
        for _ in 0..<rounds {
            let cpu = now(CLOCK_THREAD_CPUTIME_ID)
            for number in 0..<burst { report(number) }
            spent += now(CLOCK_THREAD_CPUTIME_ID) - cpu
            // The journal takes them as it would, in the meantime.
            try? await Task.sleep(for: .milliseconds(5))
            await reporter.persist()
        }
        // Each call by itself.
        for _ in 0..<rounds {
            for number in 0..<burst {
                let start = now(CLOCK_MONOTONIC)
                report(number)
                waits.append(now(CLOCK_MONOTONIC) - start)
            }
            try? await Task.sleep(for: .milliseconds(5))
            await reporter.persist()
        }
        // After a pause, when nothing is in a cache.
        var rested: [UInt64] = []
        for number in 0..<100 {
            usleep(100_000)
            let start = now(CLOCK_THREAD_CPUTIME_ID)
            report(number)
            rested.append(now(CLOCK_THREAD_CPUTIME_ID) - start)
        }
        // What the caller makes for the call, also after a pause: a dictionary.
        var arguments: [UInt64] = []
        var made = 0
        for number in 0..<100 {
            usleep(100_000)
            let start = now(CLOCK_THREAD_CPUTIME_ID)
            made += attributes(number).count
            arguments.append(now(CLOCK_THREAD_CPUTIME_ID) - start)
        }
        precondition(made == 200)
        // The same without a call: what a pause costs by itself.
        var pauses: [UInt64] = []
        for _ in 0..<100 {
            usleep(100_000)
            let start = now(CLOCK_THREAD_CPUTIME_ID)
            pauses.append(now(CLOCK_THREAD_CPUTIME_ID) - start)
        }
        waits.sort()
        rested.sort()
        arguments.sort()
        pauses.sort()
        func microseconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1000 }
        return [
            ("track_cpu_us", microseconds(spent) / Double(rounds * burst)),
            ("track_rested_cpu_us_p50", microseconds(rested[rested.count / 2])),
            ("track_rested_cpu_us_p99", microseconds(rested[rested.count * 99 / 100])),
            ("arguments_rested_cpu_us_p50", microseconds(arguments[arguments.count / 2])),
            ("pause_cpu_us_p50", microseconds(pauses[pauses.count / 2])),
            ("track_wall_us_p50", microseconds(waits[waits.count / 2])),
            ("track_wall_us_p99", microseconds(waits[waits.count * 99 / 100])),
            ("track_wall_us_p999", microseconds(waits[waits.count * 999 / 1000])),
            ("track_wall_us_max", microseconds(waits[waits.count - 1])),
        ]
    }

    @inline(never) private static func attributes(_ number: Int) -> [String: String?] {
        ["kind": "article", "from": "search"]
    }

    /// What the background spends for an event, stage by stage, with batches as they are sent.
    private static func stages(_ config: AnalyticsConfig) async throws -> [(String, Double)] {
        let (batches, size) = (100, 100)
        let count = Double(batches * size)
        let encoder = EventEncoder(device: config.device, isDevelopment: false)
        let context = EventContext(
            userID: "owl_anon_\(UUID().uuidString)", sessionID: UUID().uuidString, connection: .wifi)
        var events: [[[UInt8]]] = []
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
        let json = cpu {
            for _ in 0..<batches {
                events.append(
                    (0..<size).map { number in
                        encoder.encode(
                            PendingEvent(
                                message: "Opened page \(number)", level: .info, screen: "Page",
                                attributes: ["kind": "article", "from": "search"], attachments: [],
                                milliseconds: milliseconds, source: SourceLocation(), context: context),
                            id: UUID().uuidString)
                    })
            }
        }
        let folder = config.folder.appending(path: "stages").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var queue = try EventQueue(folder: folder) { _ in }
        let disk = try cpu { for batch in events { try queue.append(batch, at: milliseconds) } }
        let start = now(CLOCK_MONOTONIC)
        try queue.synchronize()
        let flush = now(CLOCK_MONOTONIC) - start
        var bodies: [[UInt8]] = []
        let reading = try cpu {
            while let batch = try queue.next(atMost: size, bytes: 512 * 1024, at: milliseconds) {
                bodies.append(IngestRequest.body(batch.records, bundleID: config.bundleID))
                queue.remove(batch)
            }
        }
        var compressed: [[UInt8]] = []
        let gzip = cpu { compressed = bodies.map { GzipEncoder.compress($0) } }

        // Of all threads: what URLSession does is not on ours. The body is compressed once more.
        let server = AnalyticsServer(base: config.endpoint, key: config.key, transport: config.transport)
        let before = now(CLOCK_PROCESS_CPUTIME_ID)
        let began = now(CLOCK_MONOTONIC)
        for body in bodies {
            guard case .done = await server.send(.init(path: "/v1/ingest", body: body)) else {
                throw CocoaError(.featureUnsupported)
            }
        }
        let http = now(CLOCK_PROCESS_CPUTIME_ID) - before
        let wall = now(CLOCK_MONOTONIC) - began
        func each(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1000 / count }
        return [
            ("json_cpu_us", each(json)), ("disk_write_cpu_us", each(disk)), ("disk_read_cpu_us", each(reading)),
            ("gzip_cpu_us", each(gzip)), ("http_cpu_us", each(http - min(http, gzip))),
            ("http_wall_us", each(wall)), ("fsync_ms", Double(flush) / 1_000_000),
            ("bytes", Double(bodies.reduce(0) { $0 + $1.count }) / count),
            ("compressed_bytes", Double(compressed.reduce(0) { $0 + $1.count }) / count),
        ]
    }

    private static func cpu(_ body: () throws -> Void) rethrows -> UInt64 {
        let start = now(CLOCK_THREAD_CPUTIME_ID)
        try body()
        return now(CLOCK_THREAD_CPUTIME_ID) - start
    }

    /// In nanoseconds.
    private static func now(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
