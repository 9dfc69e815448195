import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// What LogiAuth left (client §3.11): nobody is signed out by an update of the app.
@Suite(.serialized) struct AdoptionTests {
    /// A Keychain's generic passwords, by service and account.
    private final class Left: Passwords, SecureStore {
        private let items: Locked<[String: [String: String]]>
        private let store = InMemoryStore()
        var isEmpty: Bool { items.withLock { items in items.values.allSatisfy { $0.isEmpty } } }

        init(_ items: [String: [String: String]]) { self.items = Locked(items) }

        func password(_ service: String, _ account: String) -> String? { items.withLock { $0[service]?[account] } }
        func services(of account: String) -> [String] {
            items.withLock { items in items.keys.filter { items[$0]?[account] != nil }.sorted() }
        }
        func remove(_ service: String, _ account: String) {
            items.withLock { _ = $0[service]?.removeValue(forKey: account) }
        }

        // As KeychainStore does.
        func read(_ item: StoredItem) throws(StoreFault) -> Data? {
            if let content = try store.read(item) { return content }
            return try Adoption.logiAuth.content(of: item, in: self)
        }
        func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
            try store.update(item) { content throws(StoreFault) in
                if let content { return try change(content) }
                return try change(try Adoption.logiAuth.content(of: item, in: self))
            }
            try Adoption.logiAuth.remove(item, from: self)
        }
    }

    @Test func aSignInIsTakenOver() async throws {
        let deployment = try Deployment()
        let before = try await deployment.session(try await deployment.signedIn()).lastSession()
        let token = try #require(before?.refreshToken)
        let left = Left(["dev.1pass.LogiAuth.\(deployment.clientID)": ["refresh_token": token]])

        let session = try deployment.session(left)
        #expect(await session.state == .unknown(.adopted))
        #expect(try await session.currentRefreshToken() == token)
        // Offline, nothing is lost.
        deployment.proxy.arm(.lostRequest, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await session.accessToken() }
        #expect(await session.state == .unknown(.adopted))

        await session.start()
        let claims = try #require(before?.claims)
        #expect(await session.state == .known(claims))
        #expect(try await session.accessToken().isEmpty == false)
        #expect(left.isEmpty)
        #expect(deployment.refreshes.count == 2)
        try await session.signOut()
        #expect(await session.state == .signedOut(.requested))
    }

    @Test func aDeadTokenIsSignedOutOnce() async throws {
        let deployment = try Deployment()
        let left = Left(["dev.1pass.LogiAuth.\(deployment.clientID)": ["refresh_token": "unknown"]])
        let session = try deployment.session(left)
        await #expect(throws: MerganserError.signedOut(.signInAgain)) { try await session.accessToken() }
        #expect(await session.state == .signedOut(.signInAgain))
    }

    @Test func signingOutEverywhereRevokesIt() async throws {
        let deployment = try Deployment()
        let token = try await deployment.session(try await deployment.signedIn()).currentRefreshToken()
        let left = Left(["dev.1pass.LogiAuth.\(deployment.clientID)": ["refresh_token": try #require(token)]])
        try await deployment.session(left).signOut(.everywhere)
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)
        #expect(left.isEmpty)
    }

    @Test func aGuestIsTakenOver() async throws {
        let deployment = try Deployment()
        let store = InMemoryStore()
        let guest = try await deployment.accountSession(store).bootstrap()
        let item = StoredItem(.device, of: try deployment.url.withoutFinalSlash)
        let device = try JSONDecoder().decode(DeviceRecord.self, from: #require(try store.read(item)))
        let left = Left([
            "dev.1pass.LogiAuth.anonymous.logi_1": [
                "anonymous_device_id": try #require(device.uuid),
                "anonymous_device_secret": try #require(device.secret),
            ]
        ])
        let session = try deployment.accountSession(left)
        #expect(try await session.bootstrap() == guest)
        #expect(left.isEmpty)
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        #expect(try await session.profile().id == guest.id)
    }

    @Test func whoSignedInComesBeforeTheGuest() throws {
        func content(_ items: [String: [String: String]]) throws -> DeviceRecord? {
            let item = StoredItem(.device, of: "https://id.example.com")
            return try Adoption.logiAuth.content(of: item, in: Left(items)).map {
                try JSONDecoder().decode(DeviceRecord.self, from: $0)
            }
        }
        let anonymous = ["anonymous_device_id": "a", "anonymous_device_secret": "ds_a"]
        let device = ["device_uuid": "b", "device_secret": "ds_b", "device_record_id": "7"]
        let prefix = "dev.1pass.LogiAuth"
        #expect(try content([:]) == nil)
        #expect(try content(["\(prefix).device.1": device, "\(prefix).anonymous.1": anonymous])?.uuid == "b")
        #expect(
            try content(["\(prefix).device.1": ["device_uuid": "b"], "\(prefix).anonymous.1": anonymous])?.uuid == "a")
        #expect(try content(["other.device.1": device]) == nil)
        // Of two applications nobody knows which one this is.
        #expect(try content(["\(prefix).device.1": device, "\(prefix).device.2": device]) == nil)
        let item = StoredItem(.account, of: "https://id.example.com")
        #expect(try Adoption.logiAuth.content(of: item, in: Left(["\(prefix).device.1": device])) == nil)
    }
}
