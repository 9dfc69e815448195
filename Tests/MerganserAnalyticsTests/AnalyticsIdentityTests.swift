import FaultProxy
import Foundation
import MariaDB
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAnalytics

/// Whose events they are, against a server of each test's own.
@Suite struct AnalyticsIdentityTests {
    private let deployment: AnalyticsDeployment

    init() throws { deployment = try AnalyticsDeployment() }

    private func owners() throws -> [String] {
        try deployment.installation.database.connect().all(
            "SELECT CONCAT(message, '=', user_id) FROM events_resolved WHERE message NOT LIKE 'sdk:%' ORDER BY message"
        ) { row in try row.read(String.self) }
    }

    @Test func theAnonymousIDStays() async throws {
        let first = try deployment.reporter()
        #expect(first.anonymousID.wholeMatch(of: /owl_anon_[0-9A-F-]{36}/) != nil)
        #expect(first.userID == first.anonymousID)
        let second = try deployment.reporter()
        #expect(second.anonymousID == first.anonymousID)
        #expect(second.sessionID != first.sessionID)
        let other = try deployment.reporter("another device")
        #expect(other.anonymousID != first.anonymousID)
    }

    /// Before the first unlock: a new id for a while would be another user's.
    @Test func anUnreadableIdentityIsNotReplaced() throws {
        let first = try deployment.reporter()
        let file = deployment.folder().appending(path: "identity.json")
        let content = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        // root reads everything, but no folder as a file.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(throws: AnalyticsError.self) { try deployment.reporter() }
        try FileManager.default.removeItem(at: file)
        try content.write(to: file)
        #expect(try deployment.reporter().anonymousID == first.anonymousID)
    }

    /// The disk is full for a while. What it has not taken is saved with what it takes next, however much it is.
    @Test(arguments: [1, 1100]) func whatTheDiskDoesNotTakeIsSavedLater(changes: Int) async throws {
        let obstacle = deployment.folder().appending(path: "identity.json.new")
        do {
            let reporter = try deployment.reporter()
            // Nobody writes a folder as a file.
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
            reporter.signIn("user-1")
            for number in 1...changes {
                reporter.update(["plan": "pro \(number)"])
                await reporter.persist()
            }
            #expect(!deployment.losses.withLock { $0.isEmpty })
            try FileManager.default.removeItem(at: obstacle)
            reporter.update(["size": "l"])
            await reporter.persist()
        }
        let next = try deployment.reporter()
        #expect(next.userID == "user-1")
        try await deployment.deliver(next)
        #expect(deployment.proxy.count("/v1/identity/claim") == 1)
        #expect(
            try deployment.text("SELECT COALESCE(properties, '-') FROM app_users WHERE user_id = 'user-1'")
                == #"{"plan":"pro \#(changes)","size":"l"}"#)
    }

    /// The app was updated, or the update taken back: another version knows other members.
    @Test func anotherVersionsFileKeepsWhoItIs() async throws {
        let file = deployment.folder().appending(path: "identity.json")
        _ = try deployment.reporter()
        try Data(
            """
            {"anonymousID":"owl_anon_1","claims":[{"anonymousID":"owl_anon_1","userID":"user-1"}],"later":1,
            "properties":["of","another","form"],"userID":"user-1"}
            """.utf8
        ).write(to: file)
        let reporter = try deployment.reporter()
        #expect(reporter.anonymousID == "owl_anon_1")
        #expect(reporter.userID == "user-1")
        try await deployment.deliver(reporter)
        #expect(deployment.proxy.count("/v1/identity/claim") == 1)
        #expect(deployment.losses.withLock { $0 } == [])
    }

    /// Nobody can ever read it again, and the app is told.
    @Test func aDamagedFileIsReplaced() async throws {
        let file = deployment.folder().appending(path: "identity.json")
        let first = try deployment.reporter()
        try Data("{".utf8).write(to: file)
        let second = try deployment.reporter()
        #expect(second.anonymousID != first.anonymousID)
        for _ in 0..<500 where deployment.losses.withLock({ $0.isEmpty }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(deployment.losses.withLock { $0 } == [.damaged(bytes: 1)])
        #expect(try deployment.reporter().anonymousID == second.anonymousID)
    }

    @Test func whatWasAnonymousBecomesTheUsers() async throws {
        let reporter = try deployment.reporter()
        reporter.track("1 before")
        reporter.signIn("user-1")
        reporter.track("2 after")
        try await deployment.deliver(reporter)
        #expect(try owners() == ["1 before=user-1", "2 after=user-1"])
        // The events first, so that one claim finds them all.
        #expect(deployment.proxy.exchanges.map(\.request.path) == ["/v1/ingest", "/v1/identity/claim"])
        // The same user signs in at each launch; one claim is enough only until the next sign-in is told.
        let next = try deployment.reporter()
        #expect(next.userID == "user-1")
        next.track("3 later")
        try await deployment.deliver(next)
        #expect(deployment.proxy.count("/v1/identity/claim") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM app_users WHERE merged_into IS NULL") == 1)
    }

    /// The claim's answer is lost, and the app ends; the next launch claims again.
    @Test func aClaimThatWasNotAnsweredIsRepeated() async throws {
        deployment.proxy.arm(.lostRequest, at: "/v1/identity/claim")
        deployment.proxy.arm(.lostAnswer, at: "/v1/identity/claim")
        for _ in 0..<2 {
            let reporter = try deployment.reporter()
            reporter.track("event")
            if reporter.userID == reporter.anonymousID { reporter.signIn("user-1") }
            #expect(await !reporter.flush())
        }
        try await deployment.deliver(try deployment.reporter())
        #expect(deployment.proxy.count("/v1/identity/claim") == 3)
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_claims") == 1)
    }

    /// Without a new anonymous id the server gives what follows to who signed in last; with one it does not.
    @Test(arguments: [false, true])
    func afterSigningOutEventsAreAnonymous(renewing: Bool) async throws {
        let reporter = try deployment.reporter()
        let anonymousID = reporter.anonymousID
        reporter.signIn("user-1")
        reporter.signOut(renewingAnonymousID: renewing)
        #expect((reporter.anonymousID != anonymousID) == renewing)
        #expect(reporter.userID == reporter.anonymousID)
        reporter.track("signed out")
        try await deployment.deliver(reporter)
        #expect(try owners() == ["signed out=\(renewing ? reporter.anonymousID : "user-1")"])
        let next = try deployment.reporter()
        #expect(next.userID == reporter.anonymousID)
    }

    /// Two people on a device, in a project that refuses a second claim: the refusal is reported and forgotten.
    @Test func aRefusedClaimIsReported() async throws {
        try deployment.run("UPDATE projects SET claim_conflict = 'refuse'")
        let reporter = try deployment.reporter()
        reporter.track("1")
        reporter.signIn("user-1")
        try await deployment.deliver(reporter)
        reporter.signOut()
        reporter.signIn("user-2")
        reporter.track("2")
        try await deployment.deliver(reporter)
        #expect(
            deployment.losses.withLock { $0 } == [
                .refused(events: 1, status: 409, message: "Anonymous id already claimed")
            ])
        #expect(try owners() == ["1=user-1", "2=user-2"])
    }

    @Test func propertiesOfAUserAreMergedInOrder() async throws {
        let reporter = try deployment.reporter()
        reporter.signIn("user-1")
        reporter.update(["plan": "free", "theme": "dark"])
        reporter.update(["plan": "pro", "": "no key", String(repeating: "k", count: 51): "long key"])
        reporter.update(["long": String(repeating: "v", count: 300)])
        try await deployment.deliver(reporter)
        reporter.update(["theme": ""])
        try await deployment.deliver(reporter)
        let long = String(repeating: "v", count: 200)
        #expect(
            try deployment.text("SELECT properties FROM app_users WHERE user_id = 'user-1'")
                == #"{"long":"\#(long)","plan":"pro"}"#)
        #expect(deployment.losses.withLock { $0.count } == 2)
        #expect(deployment.proxy.count("/v1/identity/properties") == 2)
    }

    /// A change that comes while the server is told of the one before is not forgotten with it.
    @Test func aChangeDuringARequestIsKept() async throws {
        let gate = FaultProxy.Gate()
        deployment.proxy.arm(.held(gate), at: "/v1/identity/properties")
        let reporter = try deployment.reporter()
        reporter.update(["plan": "free"])
        async let first = reporter.flush()
        #expect(await gate.waitForArrival())
        reporter.update(["plan": "pro"])
        await reporter.persist()
        gate.open()
        _ = await first
        try await deployment.deliver(reporter)
        #expect(try deployment.text("SELECT properties FROM app_users") == #"{"plan":"pro"}"#)
    }
}
