import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// Apps in processes of their own, on one store. Each test has a server of its own.
@Suite(.serialized) struct AppProcessTests {
    private let deployment: Deployment
    private let directory: TemporaryDirectory
    private let store: FileStore

    init() throws {
        deployment = try Deployment()
        directory = try TemporaryDirectory()
        store = FileStore(folder: URL(filePath: directory.file("store")))
    }

    private func app(refreshing times: Int) throws -> ChildProcess {
        try ChildProcess(
            Repository.program("client-process"),
            try deployment.arguments("refresh", directory.path, times: times))
    }

    private func expectALivingFamily() async throws {
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
        _ = try await deployment.session(store, attempts: 4).refresh()
    }

    /// An app and its widget. Each pair of simultaneous refreshes is one rotation or two, never an alarm.
    @Test func twoProcessesRefreshAtOnce() async throws {
        _ = try await deployment.signedIn(store: store)
        let apps = [try app(refreshing: 100), try app(refreshing: 100)]
        for app in apps { #expect(try app.waitForExit(atMost: .seconds(120)) == .status(0), "\(app.errorOutput)") }
        try await expectALivingFamily()
    }

    /// Killed before the request was sent, while it is on its way, or when its answer is there.
    @Test func killedAppsStaySignedIn() async throws {
        _ = try await deployment.signedIn(store: store)
        for round in 0..<12 {
            let gate = FaultProxy.Gate()
            let fault: FaultProxy.Fault? = [.late(gate), .held(gate), nil][round % 3]
            // Of the repetitions, too: an app that goes on meanwhile makes what comes late look stolen.
            if let fault { deployment.proxy.arm(fault, at: "/oauth/token", times: .max) }
            let app = try app(refreshing: 1000)
            if fault != nil {
                #expect(await gate.waitForArrival())
            } else {
                try app.wait(for: "a few refreshes") { app.output.split(separator: "\n").count > 2 }
            }
            app.kill()
            #expect(try app.waitForExit() == .signal(9))
            gate.open()
            deployment.proxy.disarm()
            // The next start.
            let next = try self.app(refreshing: 1)
            #expect(try next.waitForExit() == .status(0), "round \(round): \(next.errorOutput)")
            #expect(await deployment.proxy.waitForQuiet())
        }
        try await expectALivingFamily()
    }
}
