import FaultProxy
import Foundation
import JSON
import MariaDB
import MerganserClient
import TestSupport

@testable import MerganserAnalytics

/// A server behind nginx behind a proxy, with one app, and the reporters of its devices.
final class AnalyticsDeployment: Sendable {
    let proxy: FaultProxy
    let installation: Installation
    let key: String
    let project: String
    let losses = Locked<[EventLoss]>([])
    private let front: Front
    private let server: ChildProcess
    private let directory: TemporaryDirectory

    init(_ variables: [String: String] = [:], platform: String = "apple") throws {
        front = try Front()
        let installation = try Installation(
            [
                "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_ISSUER": front.url,
            ].merging(variables) { $1 })
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
        directory = try TemporaryDirectory()
        self.installation = installation
        func made(_ arguments: String..., member: String = "id") throws -> String {
            let outcome = try installation.tool(arguments + ["--json"])
            guard let value = try? JSONValue(json: Array(outcome.output.utf8))[member]?.string else {
                throw TestSupportError("\(arguments): \(outcome.output)\(outcome.errorOutput)")
            }
            return value
        }
        let team = try made("team", "create", "--name", "Team")
        let project = try made("project", "create", "--team", team, "--name", "Project", "--slug", "project")
        self.project = project
        let app = try made(
            "app", "create", "--project", project, "--platform", platform, "--bundle-id", "com.example", "--name",
            "App")
        key = try made("api-key", "create", "--type", "client", "--app", app, member: "secret")
        _ = try made(
            "questionnaire", "create", "--project", project, Repository.root + "/Tests/Fixtures/questionnaire.json")
        server = try installation.readyServer()
        guard let port = URL(string: front.url)?.port.flatMap(UInt16.init(exactly:)) else {
            throw TestSupportError("no port in \(front.url)")
        }
        proxy = try FaultProxy(to: port)
    }

    static let device = DeviceDescription(
        environment: .ios, osVersion: "17.4.1", appVersion: "3.2.0", buildNumber: "412", deviceModel: "iPhone15,2",
        locale: "en_DE", preferredLanguage: "de-DE", supportedLanguages: ["en", "fr"])

    /// - Parameter name: of the device; the same one has the same queue.
    func config(_ name: String = "device") throws -> AnalyticsConfig {
        guard let url = URL(string: proxy.url) else { throw TestSupportError(proxy.url) }
        var config = AnalyticsConfig(
            endpoint: url, key: key, bundleID: "com.example", device: Self.device, folder: folder(name))
        config.isDevelopment = true
        config.onLoss = { [losses] loss in losses.withLock { $0.append(loss) } }
        // Sent when a test says so.
        config.uploadDelay = .seconds(3600)
        config.backoff = Backoff(base: .milliseconds(1), longest: .milliseconds(20), attempts: .max)
        config.transport = URLSessionTransport(timeout: .seconds(10))
        return config
    }

    func folder(_ name: String = "device") -> URL { URL(filePath: directory.file(name)) }

    func reporter(_ name: String = "device", _ change: (inout AnalyticsConfig) -> Void = { _ in }) throws
        -> AnalyticsReporter
    {
        var config = try config(name)
        change(&config)
        return try AnalyticsReporter(config)
    }

    /// Flushes until the server has everything, with the patience that a busy server asks for.
    func deliver(_ reporter: AnalyticsReporter) async throws {
        for _ in 0..<1000 {
            if await reporter.flush() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TestSupportError("not delivered: \(losses.withLock { $0 })")
    }

    /// The bodies that the server got at a path, in order, decompressed.
    func bodies(_ path: String) throws -> [[String: Any]] {
        try proxy.exchanges.filter { $0.request.path == path }.map { try Self.body($0.request) }
    }

    static func body(_ request: LocalHTTPServer.Request) throws -> [String: Any] {
        let bytes =
            request.header("content-encoding") == "gzip"
            ? try gunzipped(request.body) : request.body
        return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
    }

    /// The events that the server got, in order.
    func events() throws -> [[String: Any]] {
        try bodies("/v1/ingest").flatMap { $0["events"] as? [[String: Any]] ?? [] }
    }

    func count(_ sql: StaticString) throws -> Int {
        try installation.database.connect().first(sql) { row in try row.read(Int.self) } ?? 0
    }

    func text(_ sql: StaticString) throws -> String {
        try installation.database.connect().first(sql) { row in try row.read(String.self) } ?? "-"
    }

    func run(_ sql: String) throws { try installation.database.connect().executeScript(sql) }
}
