import JOSE
import Testing

/// Hostile and legitimate tokens, keys and key sets with the expected result, after RFC 7515, 7517, 7518, 7797, 8037
/// and 8725.
@Suite struct VectorTests {
    @Test(arguments: TokenVector.all) func tokenIsJudged(_ vector: TokenVector) throws {
        let token = try vector.token()
        switch vector.verdict {
        case .verified: try JWT(token).verify(with: TokenVector.keySet)
        case .refused(let error): #expect(throws: error) { try JWT(token).verify(with: TokenVector.keySet) }
        }
    }

    @Test(arguments: KeyVector.all) func keyIsJudged(_ vector: KeyVector) throws {
        let keySet = try #require(KeySet(json: Array("{\"keys\":[\(vector.json)]}".utf8)))
        #expect(keySet.keys.count == (vector.isUsable ? 1 : 0))
    }

    @Test func eachHasAName() {
        #expect(Set(TokenVector.all.map(\.id)).count == TokenVector.all.count)
        #expect(Set(KeyVector.all.map(\.id)).count == KeyVector.all.count)
    }

    // MARK: Sets

    private func keySet(_ keys: String...) throws -> KeySet {
        try #require(KeySet(json: Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8)))
    }

    /// RFC 7517 §4.5: keys of different types may have the same id, because a token's `alg` distinguishes them.
    @Test func keysOfOneNameAndDifferentTypesAreTwo() throws {
        let keySet = try keySet(KeyVector.rsa(), KeyVector.p256())
        let name = try #require(keySet.keys.first).keyID
        #expect([.rs256, .es256].map { keySet[name, $0]?.algorithm } == [.rs256, .es256])
    }

    /// Nothing shows which of them a token means.
    @Test func keysOfOneNameAndTypeAreNone() throws {
        #expect(try keySet(KeyVector.rsa(), KeyVector.rsa()).keys.isEmpty)
        #expect(try keySet(KeyVector.p256(), KeyVector.p256()).keys.isEmpty)
        // Spelled differently, the same.
        #expect(try keySet(KeyVector.rsa(), KeyVector.rsa(more: #","kid":"\u0061""#)).keys.isEmpty)
        // Canonically equal, but not the same: é, and e with an accent.
        let names = [#"\u00e9"#, #"e\u0301"#].map { KeyVector.rsa(more: ",\"kid\":\"\($0)\"") }
        #expect(try keySet(names[0], names[1]).keys.count == 2)
    }

    @Test func aBadKeyTakesNoOtherAlong() throws {
        for vector in KeyVector.all where !vector.isUsable {
            #expect(
                try keySet(vector.json, KeyVector.rsa(more: ",\"kid\":\"b\""), "1", "null").keys.map(\.keyID) == ["b"])
        }
    }

    @Test func theLastOfRepeatedSetsCounts() throws {
        let json = "{\"keys\":[],\"keys\":[\(KeyVector.rsa())]}"
        #expect(KeySet(json: Array(json.utf8))?.keys.count == 1)
    }

    @Test func aSetMayBeLarge() throws {
        let keys = (0..<1000).map { KeyVector.rsa(more: ",\"kid\":\"\($0)\"") }
        let keySet = try #require(KeySet(json: Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8)))
        #expect(keySet.keys.count == 1000 && keySet["999"] != nil)
    }
}
