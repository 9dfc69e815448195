import OpenSSL
import Testing

@testable import Accounts

@Suite struct SecretsTests {
    @Test(arguments: [
        (Secret.Kind.pak, "lpk_live_"), (.device, "ds_"), (.swapTicket, "swt_"),
    ])
    func aSecretIs256RandomBits(_ kind: Secret.Kind, _ prefix: String) {
        let secrets = (1...50).map { _ in Secret(kind) }
        for secret in secrets {
            #expect(secret.text.hasPrefix(prefix) && secret.text.utf8.count == prefix.utf8.count + 43)
            #expect(secret.text.dropFirst(prefix.count).wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
            #expect(secret.digest == sha256(secret.text.utf8))
            #expect(Secret(presented: secret.text).digest == secret.digest)
        }
        #expect(Set(secrets.map(\.text)).count == 50)
    }

    // MARK: Sealing

    private let key = ServerKey(current: Array(repeating: 1, count: 32))
    private let row = Array("row 1".utf8)

    @Test func whatIsSealedOpensForItsRow() throws {
        for plaintext in [[], Array("secret".utf8), Array(repeating: 7, count: 70_000)] {
            #expect(try key.open(key.seal(plaintext, for: row), for: row) == plaintext)
        }
        #expect(throws: OpenSSLError.self) { try key.open(key.seal([1], for: row), for: Array("row 2".utf8)) }
    }

    @Test func noTwoSealsAreAlike() {
        #expect(Set((1...50).map { _ in key.seal([1, 2, 3], for: row) }).count == 50)
    }

    @Test func everyBitIsProtected() {
        let sealed = key.seal(Array("secret".utf8), for: row)
        for index in sealed.indices where !(1...4).contains(index) && index > 0 {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: OpenSSLError.self) { try key.open(changed, for: row) }
        }
        for length in 0..<sealed.count {
            #expect(throws: OpenSSLError.self) { try key.open(Array(sealed.prefix(length)), for: row) }
        }
    }

    @Test func aKeyIsRotatedWithItsPredecessor() throws {
        let (old, new) = (Array(repeating: UInt8(1), count: 32), Array(repeating: UInt8(2), count: 32))
        let sealed = ServerKey(current: old).seal([5], for: row)
        let rotated = ServerKey(current: new, previous: old)
        #expect(try rotated.open(sealed, for: row) == [5])
        #expect(try ServerKey(current: new).open(rotated.seal([6], for: row), for: row) == [6])
        #expect(throws: OpenSSLError.self) { try ServerKey(current: new).open(sealed, for: row) }
        #expect(throws: OpenSSLError.self) { try ServerKey(current: old).open(rotated.seal([6], for: row), for: row) }
    }

    @Test func aMACIsThatOfItsMessageUnderEitherKey() {
        let (old, new) = (Array(repeating: UInt8(1), count: 32), Array(repeating: UInt8(2), count: 32))
        let (before, after) = (ServerKey(current: old), ServerKey(current: new))
        let during = ServerKey(current: new, previous: old)
        #expect(before.isMAC(before.mac([1]), of: [1]) && during.isMAC(before.mac([1]), of: [1]))
        #expect(during.mac([1]) == after.mac([1]) && during.isMAC(after.mac([1]), of: [1]))
        #expect(!after.isMAC(before.mac([1]), of: [1]))
        for mac in [[], before.mac([2]), Array(before.mac([1]).dropLast()), before.mac([1]) + [0]] {
            #expect(!before.isMAC(mac, of: [1]))
        }
        // Not the bare key: that one seals.
        #expect(before.mac([1]) != hmacSHA256(key: old, [1]))
    }

    // MARK: Idempotency keys (accounts §0.5)

    private func record(_ credential: String, _ key: String, _ request: String...) -> IdempotencyKey {
        IdempotencyKey(credential: Array(credential.utf8), key: key, request: request.map { Array($0.utf8) })
    }

    @Test func aRecordIsNamedByCredentialAndKey() {
        let one = record("a", "k", "POST", "/", "", "{}")
        #expect(one.row == record("a", "k", "other").row)
        #expect(one.row != record("b", "k", "POST", "/", "", "{}").row)
        #expect(one.row != record("a", "l", "POST", "/", "", "{}").row)
        #expect(one.caller == sha256("a".utf8))
    }

    @Test func theFingerprintKeepsPartsApart() {
        let requests = [
            record("a", "k", "POST", "/x", "", "{}"), record("a", "k", "POST", "/", "x", "{}"),
            record("a", "k", "POST", "/x", "{}", ""), record("a", "k", "POS", "T/x", "", "{}"),
            record("a", "k", "POST", "/x", "", "{} "),
        ]
        #expect(Set(requests.map(\.fingerprint)).count == requests.count)
        #expect(requests[0].fingerprint == record("b", "l", "POST", "/x", "", "{}").fingerprint)
    }
}
