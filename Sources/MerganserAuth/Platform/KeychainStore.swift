#if canImport(Security)
public import Foundation
internal import Security

/// A store in the Keychain, each item a generic password under a service of its own.
///
/// Items can be read from the first unlock on, also in the background. They stay on this device: they are neither
/// synchronized nor restored to another one.
public struct KeychainStore: SecureStore {
    /// What becomes of items that an earlier installation of the app left; the Keychain survives an uninstall.
    public enum LeftItems: Sendable {
        /// A guest finds their things again.
        case keepGuest
        /// The app begins anew.
        case wipe
    }

    private let accessGroup: String?
    private let adoption: Adoption?
    private let installation: Installation

    /// Items that only this app sees.
    ///
    /// - Parameters:
    ///   - adoption: an SDK that the app used before. What it left is kept whatever `leftItems` says, since an update of the
    ///     app looks like a new installation here.
    ///   - leftItems: decided once for each installation, by a marker in the user defaults, which an uninstall removes.
    ///   - defaults: have the marker.
    public init(
        adopting adoption: Adoption? = nil, leftItems: LeftItems = .keepGuest, defaults: UserDefaults = .standard
    ) {
        (self.accessGroup, self.adoption) = (nil, adoption)
        installation = Installation(leftItems, defaults)
    }

    /// Items that the developer's other apps and extensions see, too. What this app stored outside of the group moves there.
    ///
    /// - Parameters:
    ///   - adoption: as above.
    ///   - accessGroup: one of the Keychain.
    ///   - leftItems: as above. Of what is left, `.wipe` removes what is in the group.
    ///   - defaults: those of an app group, `UserDefaults(suiteName:)`. In defaults of its own, a widget would find no marker
    ///     at its first start, and `.wipe` would remove the app's sign-in.
    public init(
        adopting adoption: Adoption? = nil, accessGroup: String, leftItems: LeftItems = .keepGuest,
        defaults: UserDefaults
    ) {
        (self.accessGroup, self.adoption) = (accessGroup, adoption)
        installation = Installation(leftItems, defaults)
    }

    public func read(_ item: StoredItem) throws(StoreFault) -> Data? {
        try begin()
        return try found(item)?.content
    }

    public func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
        try begin()
        while true {
            let present = try found(item)
            let new = try change(present?.content)
            // What is adopted is stored, too.
            if new == present?.content, present == nil || present?.revision != nil { return }
            if new == nil { try adoption?.remove(item, from: KeychainPasswords()) }
            // Changes only what was read: another process may have been faster.
            if try replace(item, present?.revision, with: new) { break }
        }
        // What cannot be removed now is removed with a later change; what this library stored counts.
        try? adoption?.remove(item, from: KeychainPasswords())
    }

    // MARK: Installations

    /// Whether what an earlier installation left was dealt with.
    ///
    /// `UserDefaults` may be used by any thread, as Apple says.
    private struct Installation: @unchecked Sendable {
        let leftItems: LeftItems
        let defaults: UserDefaults
        let isDecided = Locked(false)

        init(_ leftItems: LeftItems, _ defaults: UserDefaults) {
            (self.leftItems, self.defaults) = (leftItems, defaults)
        }
    }

    /// Decides at the first access after the first unlock: before, the user defaults look empty, and the marker missing.
    private func begin() throws(StoreFault) {
        let marker = "merganser.installed"
        guard !installation.isDecided.withLock({ $0 }) else { return }
        if !installation.defaults.bool(forKey: marker) {
            try checkUnlocked()
            if !installation.defaults.bool(forKey: marker) {
                if installation.leftItems == .wipe { try wipe() }
                installation.defaults.set(true, forKey: marker)
            }
        }
        installation.isDecided.withLock { $0 = true }
    }

    /// Only adding an item, or reading its data, tells; to what is not there a locked Keychain says "not found".
    private func checkUnlocked() throws(StoreFault) {
        let probe = query(service: "merganser.probe", account: "probe")
        _ = SecItemDelete(dictionary(probe))
        let status = SecItemAdd(dictionary(probe.merging(Self.protection) { $1 }), nil)
        _ = SecItemDelete(dictionary(probe))
        // Another process checks, too.
        if status != errSecDuplicateItem { try check(status) }
    }

    private func wipe() throws(StoreFault) {
        for kind in [StoredItem.Kind.tokens, .account, .device, .keys] {
            var query = query(service: nil, account: kind.rawValue)
            query[kSecMatchLimit] = kSecMatchLimitAll
            query[kSecReturnAttributes] = true
            var result: CFTypeRef?
            let status = SecItemCopyMatching(dictionary(query), &result)
            if status == errSecItemNotFound { continue }
            try check(status)
            guard let items = result as? [NSDictionary] else { throw .unreadable("items of another form") }
            // Other services may use the same account name.
            for case let service as String in items.map({ $0[kSecAttrService] as Any })
            where service.hasPrefix("merganser.\(kind.rawValue).") {
                let status = SecItemDelete(dictionary(self.query(service: service, account: kind.rawValue)))
                if status != errSecItemNotFound { try check(status) }
            }
        }
    }

    // MARK: The Keychain

    private struct Found {
        var content: Data
        /// Kept in kSecAttrGeneric, which a query can name, unlike the content; nil of what is adopted.
        var revision: Data?
    }

    /// - Parameter service: nil for all.
    private func query(service: String?, account: String) -> [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrSynchronizable: false,
            kSecUseDataProtectionKeychain: true,
        ]
        if let service { query[kSecAttrService] = service }
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }

    private func query(_ item: StoredItem) -> [CFString: Any] {
        query(service: "merganser.\(item.kind.rawValue).\(item.owner)", account: item.kind.rawValue)
    }

    private static var protection: [CFString: Any] {
        [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
    }

    private func found(_ item: StoredItem) throws(StoreFault) -> Found? {
        var query = query(item)
        query[kSecReturnData] = true
        query[kSecReturnAttributes] = true
        var result: CFTypeRef?
        var status = SecItemCopyMatching(dictionary(query), &result)
        if status == errSecItemNotFound, try joinGroup(item) {
            status = SecItemCopyMatching(dictionary(query), &result)
        }
        if status == errSecItemNotFound {
            return try adoption?.content(of: item, in: KeychainPasswords()).map { Found(content: $0, revision: nil) }
        }
        try check(status)
        guard let attributes = result as? NSDictionary, let content = attributes[kSecValueData] as? Data,
            let revision = attributes[kSecAttrGeneric] as? Data
        else { throw .unreadable("an item of another form") }
        return Found(content: content, revision: revision)
    }

    /// Moves an item into the group that the app stored before it had one.
    ///
    /// - Returns: whether there was one, here or in the hands of another process.
    private func joinGroup(_ item: StoredItem) throws(StoreFault) -> Bool {
        guard let accessGroup else { return false }
        var query = query(item)
        query[kSecAttrAccessGroup] = nil
        let status = SecItemUpdate(dictionary(query), dictionary([kSecAttrAccessGroup: accessGroup]))
        if status == errSecItemNotFound { return false }
        if status != errSecDuplicateItem { try check(status) }
        return true
    }

    /// - Parameter revision: of the item that is replaced; nil if there must be none.
    /// - Returns: false if the item is another one by now.
    private func replace(_ item: StoredItem, _ revision: Data?, with content: Data?) throws(StoreFault) -> Bool {
        var query = query(item)
        let values: [CFString: Any] = [
            kSecValueData: content ?? Data(), kSecAttrGeneric: Data(UUID().uuidString.utf8),
        ].merging(Self.protection) { $1 }
        let status: OSStatus
        if revision == nil, content == nil { return true }
        if let revision {
            query[kSecAttrGeneric] = revision
            status =
                content == nil
                ? SecItemDelete(dictionary(query)) : SecItemUpdate(dictionary(query), dictionary(values))
        } else {
            status = SecItemAdd(dictionary(query.merging(values) { $1 }), nil)
        }
        if status == errSecItemNotFound || status == errSecDuplicateItem { return false }
        try check(status)
        return true
    }
}

/// Generic passwords as other SDKs store them: with nothing but a service and an account.
private struct KeychainPasswords: Passwords {
    func password(_ service: String, _ account: String) throws(StoreFault) -> String? {
        var result: CFTypeRef?
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            kSecReturnAttributes: true, kSecReturnData: true,
        ]
        let status = SecItemCopyMatching(dictionary(query), &result)
        if status == errSecItemNotFound { return nil }
        try check(status)
        let content = (result as? NSDictionary)?[kSecValueData] as? Data
        return content.flatMap { String(bytes: $0, encoding: .utf8) }
    }

    func services(of account: String) throws(StoreFault) -> [String] {
        var result: CFTypeRef?
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecMatchLimit: kSecMatchLimitAll,
            kSecReturnAttributes: true,
        ]
        let status = SecItemCopyMatching(dictionary(query), &result)
        if status == errSecItemNotFound { return [] }
        try check(status)
        guard let items = result as? [NSDictionary] else { throw .unreadable("items of another form") }
        return items.compactMap { $0[kSecAttrService] as? String }
    }

    func remove(_ service: String, _ account: String) throws(StoreFault) {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
        ]
        let status = SecItemDelete(dictionary(query))
        if status != errSecItemNotFound { try check(status) }
    }
}

private func check(_ status: OSStatus) throws(StoreFault) {
    switch status {
    case errSecSuccess: return
    case errSecInteractionNotAllowed: throw .locked
    default: throw .unreadable("Keychain \(status)")
    }
}

private func dictionary(_ values: [CFString: Any]) -> CFDictionary { NSDictionary(dictionary: values) as CFDictionary }
#endif
