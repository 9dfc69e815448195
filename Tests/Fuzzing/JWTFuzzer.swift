import JOSE
import JSON
import Text

extension Fuzzer {
    /// Any text as a token. If the input begins with `{`, its lines are the header, payload and signature of a token,
    /// and are encoded first, so that the fuzzer gets past base64url.
    ///
    /// Nobody has the private keys of `FuzzedKeys`, so only what they once signed may verify.
    static let jwt = Fuzzer(name: "jwt", maximumSize: 20_000) { input in
        let token = input.first == UInt8(ascii: "{") ? encoded(input.lines) : input.text
        let jwt: JWT
        do {
            jwt = try JWT(token)
        } catch JOSEError.malformed {
            return
        }
        try checkForm(jwt, token)
        let isBelieved = isVerified(jwt, with: FuzzedKeys.keySet)
        let isSigned = FuzzedKeys.signed.contains { token.utf8.starts(with: "\($0).".utf8) }
        try require(!isBelieved || isSigned, "what verifies was signed")
        try require(!isVerified(jwt, with: KeySet([])), "nothing verifies without keys")
        for key in FuzzedKeys.keySet.keys where jwt.keyID?.isIdentical(to: key.keyID) != true {
            try require(!isVerified(jwt, with: KeySet([key])), "a key of another name verifies nothing")
        }
    }

    private static func encoded(_ lines: [[UInt8]]) -> String { lines.map(Base64URL.encode).joined(separator: ".") }

    private static func checkForm(_ jwt: JWT, _ token: String) throws {
        try require(token.utf8.count <= JWT.maximumSize, "the size is limited")
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        try require(parts.count == 3, "there are three parts")
        for part in parts {
            guard let bytes = Base64URL.decode(part) else { throw Violation("every part is base64url") }
            try require(Base64URL.encode(bytes).utf8.elementsEqual(part), "one text stands for given bytes")
        }
        guard let json = Base64URL.decode(parts[0]), case .object(let header) = try JSONValue(json: json) else {
            throw Violation("the header is an object")
        }
        try require(header["crit"] == nil, "no extension has to be understood")
        try require(jwt.algorithm?.rawValue == header["alg"]?.string || jwt.algorithm == nil, "alg is the header's")
        for case .string(let name)? in jwt.claims.audience.map({ $0.map(JSONValue.string) }) ?? [] {
            try require(jwt.claims["aud"] == .string(name) || jwt.claims["aud"]?.array != nil, "aud is the payload's")
        }
        for name in ["exp", "iat", "nbf"] {
            try require(jwt.claims.numericDate(name)?.isFinite ?? true, "a date is a number")
        }
    }

    private static func isVerified(_ jwt: JWT, with keySet: KeySet) -> Bool {
        do {
            try jwt.verify(with: keySet)
            return true
        } catch {
            return false
        }
    }
}
