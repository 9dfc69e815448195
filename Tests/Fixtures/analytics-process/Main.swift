import Foundation
import MerganserAnalytics

/// An app in a process of its own, which a test may kill: reports events, and says which ones are on disk.
///
/// Arguments: the folder of the queue, the endpoint, the key, a name for the events, how many. It prints the number of
/// events after each time that they are on disk. Exit status: 0 when the server has all of them, 3 if it never does.
@main struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let endpoint = URL(string: arguments[2]), let count = Int(arguments[5]) else {
            exit(64)
        }
        var config = AnalyticsConfig(
            endpoint: endpoint, key: arguments[3], bundleID: "com.example",
            device: DeviceDescription(environment: .ios), folder: URL(filePath: arguments[1]))
        config.uploadDelay = .milliseconds(20)
        config.transport = URLSessionTransport(timeout: .seconds(5))
        config.backoff.base = .milliseconds(10)
        let reporter = try AnalyticsReporter(config)
        for number in 1...max(1, count) where number <= count {
            reporter.track("\(arguments[4]) \(number)", attributes: ["number": "\(number)"])
            guard number % 7 == 0 || number == count else { continue }
            await reporter.persist()
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
        for _ in 0..<3000 {
            if await reporter.flush() { exit(0) }
            try await Task.sleep(for: .milliseconds(20))
        }
        exit(3)
    }
}
