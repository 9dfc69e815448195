import OpenSSL
import Testing

@Test func sha256OfABC() {
    #expect(hex(sha256("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
}

@Test func sealedTextOpens() throws {
    let cipher = AES256GCM(key: randomBytes(32))
    for size in [0, 1, 100] {
        let text = randomBytes(size)
        #expect(try cipher.open(cipher.seal(text, associatedData: [1]), associatedData: [1]) == text)
    }
}

@Test func hmacCase1() {
    #expect(
        hex(hmacSHA256(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8)))
            == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
