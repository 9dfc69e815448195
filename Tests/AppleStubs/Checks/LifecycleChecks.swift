import Foundation
import MerganserAnalytics

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
        let reporter = try reporter(folder)
        NotificationCenter.default.post(name: goes, object: nil)
        for _ in 0..<500 where try !events(folder).contains("sdk:app_backgrounded") { usleep(10_000) }
        try check(try events(folder).contains("sdk:app_backgrounded"), "it says that it goes")
        withExtendedLifetime(reporter) {}
    }

    private static func reporter(_ folder: URL) throws -> AnalyticsReporter {
        guard let endpoint = URL(string: "http://127.0.0.1:1") else { throw Failed("endpoint") }
        var config = AnalyticsConfig(endpoint: endpoint, key: "owl_client_1", folder: folder)
        config.uploadDelay = .seconds(3600)
        return try AnalyticsReporter(config)
    }

    /// Everything that is on disk.
    private static func events(_ folder: URL) throws -> String {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "events" }
            .map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }.joined()
    }
}
