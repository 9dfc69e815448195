#if canImport(Security)
internal import Foundation
internal import Security

/// The anonymous id where an uninstall leaves it: in the Keychain, in the item of the deployed client, so that an app that
/// changes over keeps its users.
enum KeptAnonymousID {
    private static var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.owlmetry.sdk",
            kSecAttrAccount as String: "anonymousId",
        ]
    }

    /// nil if there is none, or if it cannot be read now.
    static func read() -> String? {
        var result: CFTypeRef?
        let wanted: [String: Any] = [kSecReturnData as String: true]
        guard SecItemCopyMatching(query.merging(wanted) { $1 } as CFDictionary, &result) == errSecSuccess else {
            return nil
        }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Keeps an id in place of what is there. If that fails, the file of the app's own folder still has it.
    static func write(_ id: String) {
        let value: [String: Any] = [kSecValueData as String: Data(id.utf8)]
        guard SecItemUpdate(query as CFDictionary, value as CFDictionary) == errSecItemNotFound else { return }
        let access: [String: Any] = [
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        ]
        _ = SecItemAdd(query.merging(value) { $1 }.merging(access) { $1 } as CFDictionary, nil)
    }
}
#else
/// On Linux the file of the program's own folder is all there is.
enum KeptAnonymousID {
    static func read() -> String? { nil }
    static func write(_ id: String) {}
}
#endif
