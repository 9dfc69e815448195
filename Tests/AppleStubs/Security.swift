// Declarations of Apple's Security framework that KeychainStore uses, from its documentation. The Core Foundation types are
// those of Foundation that they are bridged to. Behind them stands a Keychain in memory, for KeychainChecks.
public import Foundation
import Synchronization

public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public var kSecClass: CFString { "class" }
public var kSecClassGenericPassword: CFString { "genp" }
public var kSecAttrService: CFString { "svce" }
public var kSecAttrAccount: CFString { "acct" }
public var kSecAttrGeneric: CFString { "gena" }
public var kSecAttrAccessGroup: CFString { "agrp" }
public var kSecAttrAccessible: CFString { "pdmn" }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { "cku" }
public var kSecAttrSynchronizable: CFString { "sync" }
public var kSecUseDataProtectionKeychain: CFString { "nleg" }
public var kSecMatchLimit: CFString { "m_Limit" }
public var kSecMatchLimitAll: CFString { "m_LimitAll" }
public var kSecReturnAttributes: CFString { "r_Attributes" }
public var kSecReturnData: CFString { "r_Data" }
public var kSecValueData: CFString { "v_Data" }

public var errSecSuccess: OSStatus { 0 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecInteractionNotAllowed: OSStatus { -25308 }

/// What a program sees that reads and writes the Keychain beside KeychainStore.
public enum KeychainInMemory {
    struct State {
        var items: [[String: String]] = []
        var isLocked = false
        var deletes = true
    }

    static let state = Mutex(State())

    /// Locked, it still finds attributes, and deletes: only data is encrypted.
    public static func lock(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }
    public static var isLocked: Bool { state.withLock { $0.isLocked } }

    /// Whether items can be deleted.
    public static func delete(_ deletes: Bool) { state.withLock { $0.deletes = deletes } }

    /// The items, by attribute; data in Base64.
    public static var items: [[String: String]] { state.withLock { $0.items } }

    /// What items are told apart by.
    private static let primary = ["class", "svce", "acct", "agrp"]
    private static let attributes = primary + ["gena"]

    static func values(_ dictionary: CFDictionary) -> [String: String] {
        var values: [String: String] = [:]
        for (key, value) in dictionary {
            values["\(key)"] = (value as? Data)?.base64EncodedString() ?? "\(value)"
        }
        return values
    }

    static func matches(_ item: [String: String], _ query: [String: String]) -> Bool {
        attributes.allSatisfy { query[$0] == nil || query[$0] == item[$0] }
    }

    static func isSame(_ one: [String: String], _ other: [String: String]) -> Bool {
        primary.allSatisfy { one[$0] == other[$0] }
    }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let query = KeychainInMemory.values(query)
    let (found, isLocked) = KeychainInMemory.state.withLock { state in
        (state.items.filter { KeychainInMemory.matches($0, query) }, state.isLocked)
    }
    if found.isEmpty { return errSecItemNotFound }
    if isLocked, query["r_Data"] != nil { return errSecInteractionNotAllowed }
    let items = found.map { item in
        var values: [String: Any] = item
        for key in ["v_Data", "gena"] { values[key] = item[key].flatMap { Data(base64Encoded: $0) } }
        if query["r_Data"] == nil { values["v_Data"] = nil }
        return NSDictionary(dictionary: values)
    }
    result?.pointee = query["m_Limit"] == "m_LimitAll" ? NSArray(array: items) : items[0]
    return errSecSuccess
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let item = KeychainInMemory.values(attributes)
    return KeychainInMemory.state.withLock { state in
        if state.isLocked { return errSecInteractionNotAllowed }
        if state.items.contains(where: { KeychainInMemory.isSame($0, item) }) { return errSecDuplicateItem }
        state.items.append(item)
        return errSecSuccess
    }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    let (query, values) = (KeychainInMemory.values(query), KeychainInMemory.values(attributesToUpdate))
    return KeychainInMemory.state.withLock { state in
        if state.isLocked { return errSecInteractionNotAllowed }
        let found = state.items.indices.filter { KeychainInMemory.matches(state.items[$0], query) }
        let isTaken = found.contains { index in
            let changed = state.items[index].merging(values) { $1 }
            return state.items.indices.contains {
                $0 != index && KeychainInMemory.isSame(state.items[$0], changed)
            }
        }
        if isTaken { return errSecDuplicateItem }
        for index in found { state.items[index].merge(values) { $1 } }
        return found.isEmpty ? errSecItemNotFound : errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    let query = KeychainInMemory.values(query)
    return KeychainInMemory.state.withLock { state in
        if !state.deletes { return errSecInteractionNotAllowed }
        let count = state.items.count
        state.items.removeAll { KeychainInMemory.matches($0, query) }
        return state.items.count == count ? errSecItemNotFound : errSecSuccess
    }
}
