import FaultProxy
import Foundation
import Glibc
import TestSupport
import Testing

@testable import MerganserAuth

/// Many apps in processes of their own, which are killed and started again on the same stores, behind a network that loses
/// and repeats (client §5). What the processes themselves check is in `Tests/Fixtures/client-process`.
///
/// `MERGANSER_CLIENT_DRILL` is the number of operations: `make client-drill` sets it to 100 000.
@Suite(.serialized) struct ClientDrillTests {
    private static let operations =
        ProcessInfo.processInfo.environment["MERGANSER_CLIENT_DRILL"].flatMap { Int($0) } ?? 300

    /// A phone, whose processes are killed.
    private final class Phone {
        let deployment: Deployment
        let folder: String
        private(set) var process: ChildProcess
        private var end: ContinuousClock.Instant
        private(set) var kills = 0
        private var counted = 0

        init(_ deployment: Deployment, _ directory: TemporaryDirectory, _ name: String) throws {
            self.deployment = deployment
            folder = directory.file(name)
            try directory.makeDirectory("\(name)/tokens")
            (process, end) = try Self.start(deployment, folder)
        }

        /// The lives that it has lived to their end.
        var lives: Int { get throws { try Self.progress(folder).life } }
        /// What it has done so far.
        var operations: Int { counted + process.output.utf8.count }

        private static func progress(_ folder: String) throws -> (life: Int, step: Int) {
            guard let content = FileManager.default.contents(atPath: "\(folder)/progress") else { return (0, 0) }
            let members = try JSONSerialization.jsonObject(with: content) as? [String: Any]
            return (members?["life"] as? Int ?? 0, members?["step"] as? Int ?? 0)
        }

        private static func start(
            _ deployment: Deployment, _ folder: String
        ) throws -> (ChildProcess, ContinuousClock.Instant) {
            let life = try progress(folder).life
            // More than a process lives to see.
            let most = life + 30
            for life in life..<most {
                for person in ["person", "other"] {
                    let subject = "\(person)-\(life)@\(folder)"
                    let token = deployment.installation.issuer.token(subject: subject, nonce: "raw-nonce")
                    try token.write(toFile: "\(folder)/tokens/\(person)-\(life)", atomically: false, encoding: .utf8)
                }
            }
            // On Linux URLSession keeps a core busy while it waits for an answer. The server needs that core.
            let process = try ChildProcess(
                "/usr/bin/nice",
                ["-n", "19", Repository.program("client-process")]
                    + deployment.arguments("lives", folder, times: most))
            return (process, .now + .milliseconds(Int.random(in: 300...4000)))
        }

        /// Starts the next process when one has ended.
        ///
        /// - Returns: false once it has lived its last life.
        func goOn(isEnough: Bool) throws -> Bool {
            if !process.isRunning {
                let exit = try process.waitForExit()
                guard exit == .signal(9) || exit == .status(0) else {
                    throw TestSupportError("\(exit) in \(try Self.progress(folder)): \(process.errorOutput)")
                }
                if exit == .status(0), isEnough { return false }
                counted += process.output.utf8.count
                (process, end) = try Self.start(deployment, folder)
            } else if end < .now {
                process.kill()
                _ = try process.waitForExit()
                kills += 1
            }
            return true
        }
    }

    /// Nobody was signed out who had not asked for it, no account is double, no asset is lost.
    @Test(.timeLimit(.minutes(600))) func livesUnderFaults() async throws {
        let deployment = try Deployment(weather: FaultProxy.Weather())
        let directory = try TemporaryDirectory()
        // Each waits most of its time, for the network or after a kill.
        let atOnce = Self.operations > 10_000 ? 12 : 3
        let phones = try (1...atOnce).map { try Phone(deployment, directory, "phone-\($0)") }
        var running = phones
        var isEnough = false
        while !running.isEmpty {
            // Blocks the thread, as tests that are not asynchronous do. A task that sleeps may wake only when one of these has ended,
            // which is too late to kill a process.
            usleep(50_000)
            running = try running.filter { try $0.goOn(isEnough: isEnough) }
            guard !isEnough, phones.reduce(0, { $0 + $1.operations }) >= Self.operations else { continue }
            isEnough = true
            for phone in phones {
                try directory.write("", to: "\(URL(filePath: phone.folder).lastPathComponent)/enough")
            }
        }

        let operations = phones.reduce(0) { $0 + $1.operations }
        let kills = phones.reduce(0) { $0 + $1.kills }
        let lives = try phones.map { try $0.lives }
        print("client drill: \(operations) operations in \(lives.reduce(0, +)) lives, \(kills) kills")
        #expect(operations >= Self.operations && kills > 0)
        // As `Life.steps` deals them out.
        func count(_ kind: Int) -> Int { lives.reduce(0) { sum, lives in sum + (lives + 2 - kind) / 3 } }
        let (promoted, swapped, merged) = (count(0), count(1), count(2))
        #expect(promoted > 0 && swapped > 0 && merged > 0)
        let people = promoted + swapped + merged
        #expect(try deployment.count("SELECT COUNT(*) FROM users") == people + merged)
        #expect(try deployment.count("SELECT COUNT(*) FROM users WHERE anonymous") == 0)
        #expect(try deployment.count("SELECT COUNT(*) FROM users WHERE previously_anonymous") == promoted)
        #expect(try deployment.count("SELECT COUNT(*) FROM identities") == people + merged)
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_links") == merged)
        #expect(try deployment.count("SELECT COUNT(*) FROM grants") == people)
        #expect(try deployment.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NOT NULL") == 0)
        #expect(
            try deployment.count(
                "SELECT COUNT(DISTINCT g.user_id) FROM grants g JOIN identities i ON i.user_id = g.user_id") == people)
        #expect(try deployment.count("SELECT COUNT(*) FROM absorbed_subs") == swapped)
        try expectNoAlarm(deployment)
    }

    /// An app and its widget, at every expiry of the access token.
    @Test(.timeLimit(.minutes(600))) func twoProcessesAtEveryExpiry() async throws {
        let deployment = try Deployment()
        let directory = try TemporaryDirectory()
        _ = try await deployment.signedIn(store: FileStore(folder: URL(filePath: directory.file("store"))))
        let before = try deployment.count("SELECT COUNT(*) FROM refresh_tokens")
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let expiries = max(50, Self.operations / 10)
        let apps = try ends.map { end in
            try ChildProcess(
                Repository.program("client-process"),
                try deployment.arguments("expiries", directory.path, times: expiries), input: end)
        }
        for end in ends { close(end) }
        for app in apps {
            while app.isRunning { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try app.waitForExit() == .status(0), "\(app.errorOutput)")
        }
        let rotations = try deployment.count("SELECT COUNT(*) FROM refresh_tokens") - before
        print("client drill: \(rotations) rotations at \(expiries) expiries")
        #expect(rotations == expiries)
        try expectNoAlarm(deployment)
    }

    private func expectNoAlarm(_ deployment: Deployment) throws {
        #expect(
            try deployment.count("SELECT COUNT(*) FROM webhook_outbox WHERE raw_payload LIKE '%refresh_reuse%'") == 0)
    }
}
