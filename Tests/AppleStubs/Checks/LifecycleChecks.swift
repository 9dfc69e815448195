import Foundation
import MerganserAnalytics
import MerganserClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(UIKit)
import UIKit
#else
import AppKit
#endif

/// AnalyticsReporter with the notifications that the system posts when an app goes (analytics §17.1).
enum LifecycleChecks {
    #if canImport(UIKit)
    private static let goes = UIApplication.didEnterBackgroundNotification
    private static let ends = UIApplication.willTerminateNotification
    #else
    private static let goes = NSApplication.didResignActiveNotification
    private static let ends = NSApplication.willTerminateNotification
    #endif

    static func run() throws {
        try anAppThatEndsLosesNothing()
        try anAppThatGoesSaysSo()
        print("AnalyticsReporter loses nothing when the app goes.")
    }

    private static func anAppThatEndsLosesNothing() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let reporter = try reporter(folder)
        reporter.track("the last word")
        NotificationCenter.default.post(name: ends, object: nil)
        // The process could end here.
        try check(try events(folder).contains("the last word"), "the event is on disk")
        withExtendedLifetime(reporter) {}
    }

    private static func anAppThatGoesSaysSo() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let network = Absent()
        let reporter = try reporter(folder, network)
        NotificationCenter.default.post(name: goes, object: nil)
        // By itself nothing is sent for an hour.
        for _ in 0..<500 where !network.wasAsked { usleep(10_000) }
        try check(network.wasAsked, "it sends what there is")
        try check(try events(folder).contains("sdk:app_backgrounded"), "it says that it goes")
        withExtendedLifetime(reporter) {}
    }

    /// A network that is away, and notes that somebody asked.
    private final class Absent: Transport {
        let timeout = Duration.seconds(1)
        private let asked = Locked(false)

        var wasAsked: Bool { asked.withLock { $0 } }

        func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
            asked.withLock { $0 = true }
            throw URLError(.notConnectedToInternet)
        }
    }

    private static func reporter(
        _ folder: URL, _ transport: any Transport = Absent()
    ) throws -> AnalyticsReporter {
        guard let endpoint = URL(string: "http://127.0.0.1:1") else { throw Failed("endpoint") }
        var config = AnalyticsConfig(endpoint: endpoint, key: "owl_client_1", folder: folder)
        config.uploadDelay = .seconds(3600)
        config.transport = transport
        return try AnalyticsReporter(config)
    }

    /// Everything that is on disk.
    private static func events(_ folder: URL) throws -> String {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "events" }
            .map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }.joined()
    }
}
