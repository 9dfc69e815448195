import Foundation
import MerganserAuth
import Security

/// KeychainStore with the stub's Keychain in memory (client §3.8, §3.11): what it does with the Keychain's answers, not what
/// the Keychain answers.
enum KeychainChecks {
    static let tokens = StoredItem(.tokens, of: "logi_1")
    static let device = StoredItem(.device, of: "https://id.example.com")

    static func run() throws {
        try itemsAreApartAndStayOnTheDevice()
        try beforeTheFirstUnlockNothingIsKnown()
        try anAppThatLivesIsNotWiped()
        try whatAnUninstallLeavesIsKeptOrWiped()
        try itemsMoveIntoANewGroup()
        try logiAuthIsTakenOver()
        try whatIsUnchangedIsTakenOver()
        print("KeychainStore does what client §3.8 and §3.11 say.")
    }

    static func defaults() throws -> UserDefaults {
        guard let defaults = UserDefaults(suiteName: "keychain-checks-\(UUID().uuidString)") else {
            throw Failed("defaults")
        }
        return defaults
    }

    static func itemsAreApartAndStayOnTheDevice() throws {
        let (store, other) = (KeychainStore(defaults: try defaults()), KeychainStore(defaults: try defaults()))
        try check(try store.read(tokens) == nil, "nothing is there")
        try store.update(tokens) { _ in Data("a".utf8) }
        try store.update(device) { _ in Data("b".utf8) }
        try check(try other.read(tokens) == Data("a".utf8), "another process finds it")
        try check(Set(KeychainInMemory.items.map { $0["svce"] }).count == 2, "services of their own")
        for item in KeychainInMemory.items {
            try check(item["pdmn"] == "cku" && item["sync"] == "false", "this device only: \(item)")
        }
        // Another process is faster, once.
        var isFirst = true
        try store.update(tokens) { content throws(StoreFault) in
            if isFirst {
                isFirst = false
                try other.update(tokens) { ($0 ?? Data()) + Data("b".utf8) }
            }
            return (content ?? Data()) + Data("c".utf8)
        }
        try check(try store.read(tokens) == Data("abc".utf8), "no change is lost")
        for item in [tokens, device] { try store.update(item) { _ in nil } }
        try check(KeychainInMemory.items.isEmpty, "nothing is left")
    }

    static func beforeTheFirstUnlockNothingIsKnown() throws {
        let store = KeychainStore(defaults: try defaults())
        try store.update(tokens) { _ in Data("a".utf8) }
        KeychainInMemory.lock(true)
        do {
            _ = try store.read(tokens)
            throw Failed("a locked Keychain cannot be read")
        } catch StoreFault.locked {}
        // A first start before the unlock decides after it.
        let next = KeychainStore(leftItems: .wipe, defaults: try defaults())
        do {
            _ = try next.read(tokens)
            throw Failed("a locked Keychain cannot be read")
        } catch StoreFault.locked {}
        KeychainInMemory.lock(false)
        try check(try store.read(tokens) != nil, "it is still there")
        try check(try next.read(tokens) == nil, "it is gone")
        try check(KeychainInMemory.items.isEmpty, "nothing is left: \(KeychainInMemory.items)")
    }

    /// Before the first unlock, the user defaults look empty.
    final class LockedDefaults: UserDefaults {
        override func bool(forKey key: String) -> Bool { !KeychainInMemory.isLocked && super.bool(forKey: key) }
    }

    static func anAppThatLivesIsNotWiped() throws {
        guard let defaults = LockedDefaults(suiteName: "keychain-checks-\(UUID().uuidString)") else {
            throw Failed("defaults")
        }
        try KeychainStore(leftItems: .wipe, defaults: defaults).update(tokens) { _ in Data("a".utf8) }
        KeychainInMemory.lock(true)
        let next = KeychainStore(leftItems: .wipe, defaults: defaults)
        _ = try? next.read(tokens)
        KeychainInMemory.lock(false)
        try check(try next.read(tokens) == Data("a".utf8), "the marker counts")
        try next.update(tokens) { _ in nil }
    }

    static func itemsMoveIntoANewGroup() throws {
        let defaults = try defaults()
        try KeychainStore(defaults: defaults).update(tokens) { _ in Data("a".utf8) }
        let store = KeychainStore(accessGroup: "group", defaults: defaults)
        try check(try store.read(tokens) == Data("a".utf8), "it is found")
        try check(KeychainInMemory.items.map { $0["agrp"] } == ["group"], "a widget finds it, too")
        try store.update(tokens) { _ in nil }
        try check(try store.read(tokens) == nil, "it does not come back")
    }

    static func whatAnUninstallLeavesIsKeptOrWiped() throws {
        for (policy, isKept) in [(KeychainStore.LeftItems.keepGuest, true), (.wipe, false)] {
            let former = KeychainStore(defaults: try defaults())
            try former.update(tokens) { _ in Data("a".utf8) }
            try former.update(device) { _ in Data("b".utf8) }
            try others()
            // The next installation, with defaults of its own.
            let defaults = try defaults()
            let store = KeychainStore(leftItems: policy, defaults: defaults)
            try check(
                (try store.read(tokens) != nil) == isKept && (try store.read(device) != nil) == isKept, "\(policy)")
            try check(KeychainInMemory.items.contains { $0["svce"] == "others" }, "what others stored stays")
            // Its next start finds what it stored itself.
            try store.update(tokens) { _ in Data("c".utf8) }
            try check(
                try KeychainStore(leftItems: policy, defaults: defaults).read(tokens) == Data("c".utf8), "next start")
            for item in [tokens, device] { try store.update(item) { _ in nil } }
            _ = SecItemDelete([kSecAttrService: "others"])
        }
    }

    /// A password of somebody else under an account name that KeychainStore uses, too.
    static func others() throws {
        let status = SecItemAdd(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "others", kSecAttrAccount: "tokens",
                kSecValueData: Data("x".utf8),
            ], nil)
        try check(status == errSecSuccess, "others")
    }

    static func logiAuthIsTakenOver() throws {
        for (service, account) in [
            ("dev.1pass.LogiAuth.logi_1", "refresh_token"), ("dev.1pass.LogiAuth.device.logi_1", "device_uuid"),
            ("dev.1pass.LogiAuth.device.logi_1", "device_secret"),
            ("dev.1pass.LogiAuth.device.logi_1", "device_record_id"),
            ("dev.1pass.LogiAuth.anonymous.logi_1", "anonymous_device_id"),
            ("dev.1pass.LogiAuth.anonymous.logi_1", "anonymous_device_secret"),
        ] {
            let item: NSDictionary = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecValueData: Data(account.utf8),
            ]
            try check(SecItemAdd(item, nil) == errSecSuccess, service)
        }
        try check(
            try KeychainStore(defaults: try defaults()).read(tokens) == nil, "it is taken over only if asked for")
        // An update of an app looks like a new installation.
        let store = KeychainStore(adopting: .logiAuth, leftItems: .wipe, defaults: try defaults())
        func text(_ item: StoredItem) throws -> String {
            String(decoding: try store.read(item) ?? Data(), as: UTF8.self)
        }
        try check(try text(tokens).contains("refresh_token"), "the refresh token is there")
        try check(try text(device).contains("device_uuid"), "the device is there")
        try check(KeychainInMemory.items.count == 6, "reading changes nothing")
        for item in [tokens, device] { try store.update(item) { _ in Data("new".utf8) } }
        try check(KeychainInMemory.items.count == 2, "what was taken over is removed: \(KeychainInMemory.items)")
        try check(try text(tokens) == "new", "what this library stored counts")
        for item in [tokens, device] { try store.update(item) { _ in nil } }
    }

    static func whatIsUnchangedIsTakenOver() throws {
        let item: NSDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "dev.1pass.LogiAuth.logi_1",
            kSecAttrAccount: "refresh_token", kSecValueData: Data("token".utf8),
        ]
        try check(SecItemAdd(item, nil) == errSecSuccess, "adding")
        let store = KeychainStore(adopting: .logiAuth, defaults: try defaults())
        _ = try store.read(tokens)
        KeychainInMemory.delete(false)
        try store.update(tokens) { $0 }
        try check(KeychainInMemory.items.contains { $0["svce"] == "merganser.tokens.logi_1" }, "it is stored")
        KeychainInMemory.delete(true)
        // What could not be removed goes with the next change.
        try store.update(tokens) { _ in Data("new".utf8) }
        try check(!KeychainInMemory.items.contains { $0["acct"] == "refresh_token" }, "what was adopted is removed")
        for item in [tokens, device] { try store.update(item) { _ in nil } }
    }
}
