import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// Files, records, clocks and waiting.
@Suite struct StorageTests {
    private let directory: TemporaryDirectory
    private let item = StoredItem(.tokens, of: "logi_1")

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func filesAreTheirOwnersAlone() throws {
        let store = FileStore(folder: URL(filePath: directory.file("store")))
        #expect(try store.read(item) == nil)
        try store.update(item) { _ in Data("a".utf8) }
        #expect(try store.read(item) == Data("a".utf8))
        #expect(try mode(directory.file("store")) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.file("store")).sorted()
        #expect(names == ["tokens-logi_1.json", "tokens-logi_1.json.lock"])
        for name in names { #expect(try mode(directory.file("store/\(name)")) == 0o600) }

        try store.update(item) { _ in nil }
        #expect(try store.read(item) == nil)
    }

    /// Items stay apart: device secrets from tokens, one client_id from another.
    @Test func itemsAreFilesOfTheirOwn() throws {
        let store = FileStore(folder: URL(filePath: directory.file("store")))
        let items = [
            item, StoredItem(.tokens, of: "logi_2"), StoredItem(.device, of: "http://127.0.0.1:1"),
            StoredItem(.account, of: "http://127.0.0.1:1"),
        ]
        for item in items { try store.update(item) { _ in Data("\(item)".utf8) } }
        for item in items { #expect(try store.read(item) == Data("\(item)".utf8)) }
    }

    @Test func aFolderThatOthersCanEnterIsRefused() throws {
        try directory.makeDirectory("open")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.file("open"))
        let store = FileStore(folder: URL(filePath: directory.file("open")))
        #expect(throws: StoreFault.self) { try store.read(item) }
    }

    /// A record that says nothing would hide what an app stored before it had a Keychain group.
    @Test func whatIsEmptyIsNotStored() throws {
        let store = InMemoryStore()
        let record = RecordStore(store: store, item: item, empty: SessionRecord())
        try record.update { _ in }
        #expect(try store.read(item) == nil)
        try record.update { $0.revocations = ["token"] }
        try record.update { $0.revocations = [] }
        #expect(try store.read(item) != nil)
    }

    /// The way back comes before the browser has said that it opened another app: then its code is being exchanged.
    @Test func whatHasArrivedIsNotElsewhere() throws {
        let handoff = Handoff(redirectURI: "myapp://oauth/callback")
        _ = handoff.begin(state: "1")
        #expect(handoff.handle(try #require(URL(string: "myapp://oauth/callback?state=1&code=2"))))
        handoff.leave(state: "1")
        #expect(handoff.begin(state: "2") == nil)
        handoff.end(state: "1")
        #expect(handoff.begin(state: "2") != nil)
    }

    /// A new machine has no `~/.local` either.
    @Test func theFoldersThatItIsInAreMade() throws {
        let store = FileStore(folder: URL(filePath: directory.file("local/state/store")))
        try store.update(item) { _ in Data("a".utf8) }
        #expect(try store.read(item) == Data("a".utf8))
        for folder in ["local", "local/state", "local/state/store"] {
            #expect(try mode(directory.file(folder)) == 0o700)
        }
    }

    /// What a killed process left does not stand in the way, and is not taken for content.
    @Test func aTornFileIsNoContent() throws {
        let store = FileStore(folder: URL(filePath: directory.file("store")))
        try store.update(item) { _ in Data("a".utf8) }
        try directory.write("torn", to: "store/tokens-logi_1.json.new")
        #expect(try store.read(item) == Data("a".utf8))
        try store.update(item) { _ in Data("b".utf8) }
        #expect(try store.read(item) == Data("b".utf8))
    }

    /// flock(2) holds between descriptors, also those of one process.
    @Test func noChangeIsLost() async throws {
        let folder = URL(filePath: directory.file("store"))
        try await withThrowingTaskGroup { [item] group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try FileStore(folder: folder).update(item) { content in
                            Data("\((content.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0) + 1)".utf8)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileStore(folder: folder).read(item) == Data("200".utf8))
    }

    /// A record that this version cannot read is somebody's sign-in.
    @Test func whatCannotBeReadIsNotDeleted() throws {
        let store = FileStore(folder: URL(filePath: directory.file("store")))
        try store.update(item) { _ in Data(#"{"format":2}"#.utf8) }
        let record = RecordStore(store: store, item: item, empty: SessionRecord())
        #expect(throws: MerganserError.self) { try record.read() }
        #expect(throws: MerganserError.self) { try record.update { $0.signOut(.requested) } }
        #expect(try store.read(item) == Data(#"{"format":2}"#.utf8))
    }

    /// But the user may sign out.
    @Test func signOutLeavesWhatCannotBeRead() async throws {
        let store = InMemoryStore()
        try store.update(item) { _ in Data(#"{"generation":"2"}"#.utf8) }
        let config = MerganserConfig(
            clientID: "logi_1", redirectURI: "myapp://callback", issuer: try #require(URL(string: "http://localhost:1"))
        )
        let session = try AuthSession(config, store: store, browser: NoBrowser())
        #expect(await session.state == .unknown(.unreadable("tokens")))
        store.fault = .locked
        await #expect(throws: MerganserError.storeUnavailable(.locked)) { try await session.signOut() }
        store.fault = nil
        #expect(await session.state == .unknown(.unreadable("tokens")))
        try await session.signOut()
        #expect(await session.state == .signedOut(.requested))
    }

    @Test func theServersDateIsUnderstood() throws {
        let date = try #require(ServerClock.httpDate("Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(date.timeIntervalSince1970 == 784_111_777)
        #expect(ServerClock.httpDate("1994-11-06T08:49:37Z") == nil)
        #expect(ServerClock.httpDate("Sun, 06 Foo 1994 08:49:37 GMT") == nil)
    }

    @Test func theServersTimeSurvivesASetClock() {
        let device = TestDeviceClock(wrong: 7200)
        let clock = ServerClock(device)
        clock.learn(from: "Sun, 06 Nov 1994 08:49:37 GMT", sent: device.uptime)
        device.set(wrong: -86_400)
        device.advance(by: .seconds(100))
        #expect(abs(clock.now.timeIntervalSince1970 - 784_111_877) < 60)
        let next = ServerClock(TestDeviceClock(wrong: 7200), offset: clock.offset)
        #expect(abs(next.now.timeIntervalSince1970 - 784_111_777) < 60)
    }

    @Test func whatAnotherProcessLearnsCountsUntilThisOneDoes() {
        let device = TestDeviceClock()
        let clock = ServerClock(device)
        func offset() -> TimeInterval { clock.now.timeIntervalSince(Date()).rounded() }
        clock.restore(offset: -3600)
        #expect(offset() == -3600)
        // Somebody sets the date.
        device.set(wrong: 600)
        clock.restore(offset: -3600)
        #expect(offset() == -3600)
        clock.restore(offset: -600)
        #expect(offset() == 0)
        clock.learn(from: "Sun, 06 Nov 1994 08:49:37 GMT", sent: device.uptime)
        clock.restore(offset: -3600)
        #expect(abs(clock.now.timeIntervalSince1970 - 784_111_777) < 60)
    }

    @Test func waitsGrowAndKeepToWhatIsAsked() throws {
        let backoff = Backoff(base: .seconds(1), longest: .seconds(10), attempts: 9)
        for attempt in 1..<9 {
            let bound = min(.seconds(10), .seconds(1) * (1 << (attempt - 1)))
            for _ in 0..<20 {
                #expect(try #require(backoff.wait(after: attempt, asked: nil)) <= bound)
                #expect(try #require(backoff.wait(after: attempt, asked: .seconds(5))) >= .seconds(5))
            }
        }
        #expect(backoff.wait(after: 9, asked: nil) == nil)
        #expect(backoff.wait(after: 1, asked: .seconds(11)) == nil)
        #expect(Set((0..<20).map { _ in backoff.wait(after: 4, asked: nil) }).count > 1)
    }
}
