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

    /// - Parameters:
    ///   - adoption: an SDK that the app used before. What it left is kept whatever `leftItems` says, since an update of the
    ///     app looks like a new installation here.
    ///   - accessGroup: shares the items with the developer's other apps and extensions.
    ///   - leftItems: decided once for each installation, by a marker in the user defaults, which an uninstall removes.
    ///   - defaults: those of the app group if there is an access group, so that a widget finds the marker, too.
    public init(
        adopting adoption: Adoption? = nil, accessGroup: String? = nil, leftItems: LeftItems = .keepGuest,
        defaults: UserDefaults = .standard
    ) {
        self.adoption = adoption
        self.accessGroup = accessGroup
        let marker = "merganser.installed"
        guard !defaults.bool(forKey: marker) else { return }
        // If the Keychain is still locked, the next launch decides.
        if leftItems == .wipe, !wipe() { return }
        defaults.set(true, forKey: marker)
    }

    public func read(_ item: StoredItem) throws(StoreFault) -> Data? { try found(item)?.content }

    public func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
        while true {
            let present = try found(item)
            let new = try change(present?.content)
            if new == present?.content { return }
            // Changes only what was read: another process may have been faster.
            if try replace(item, present?.revision, with: new) { break }
        }
        try adoption?.remove(item, from: KeychainPasswords())
    }

    // MARK: The Keychain

    private struct Found {
        var content: Data
        /// Kept in kSecAttrGeneric, which a query can name, unlike the content; nil of what is adopted.
        var revision: Data?
    }

    private func query(_ item: StoredItem) -> [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "merganser.\(item.kind.rawValue).\(item.owner)",
            kSecAttrAccount: item.kind.rawValue, kSecAttrSynchronizable: false, kSecUseDataProtectionKeychain: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }

    private func found(_ item: StoredItem) throws(StoreFault) -> Found? {
        var query = query(item)
        query[kSecReturnData] = true
        query[kSecReturnAttributes] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(dictionary(query), &result)
        if status == errSecItemNotFound {
            return try adoption?.content(of: item, in: KeychainPasswords()).map { Found(content: $0, revision: nil) }
        }
        try check(status)
        guard let attributes = result as? NSDictionary, let content = attributes[kSecValueData] as? Data,
            let revision = attributes[kSecAttrGeneric] as? Data
        else { throw .unreadable("an item of another form") }
        return Found(content: content, revision: revision)
    }

    /// - Parameter revision: of the item that is replaced; nil if there must be none.
    /// - Returns: false if the item is another one by now.
    private func replace(_ item: StoredItem, _ revision: Data?, with content: Data?) throws(StoreFault) -> Bool {
        var query = query(item)
        let values: [CFString: Any] = [
            kSecValueData: content ?? Data(), kSecAttrGeneric: Data(UUID().uuidString.utf8),
            kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
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

    /// - Returns: whether nothing is left.
    private func wipe() -> Bool {
        for kind in [StoredItem.Kind.tokens, .account, .device, .keys] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: kind.rawValue, kSecAttrSynchronizable: false,
                kSecUseDataProtectionKeychain: true, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            var result: CFTypeRef?
            let status = SecItemCopyMatching(dictionary(query), &result)
            if status == errSecItemNotFound { continue }
            guard status == errSecSuccess, let items = result as? [NSDictionary] else { return false }
            // Other services may use the same account name.
            for case let service as String in items.map({ $0[kSecAttrService] as Any })
            where service.hasPrefix("merganser.\(kind.rawValue).") {
                let owner = String(service.dropFirst("merganser.\(kind.rawValue).".count))
                let status = SecItemDelete(dictionary(self.query(StoredItem(kind, of: owner))))
                guard status == errSecSuccess || status == errSecItemNotFound else { return false }
            }
        }
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
