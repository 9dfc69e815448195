import JOSE
import TestSupport
import Text

extension TokenVector {
    /// RFC 7515 §2, §3.1 and §7.1, RFC 7519 §7.2, RFC 8259.
    static let encodings: [TokenVector] = compactForm + alphabets + trailingBits + objects + surrogates + sizes

    /// RFC 8259 §8.2: half of a surrogate pair is no character, so no two of them are the same.
    private static let surrogates: [TokenVector] =
        ["sub", "iss", "aud", "nonce", "email", "name"].map { claim in
            TokenVector("surrogate-\(claim)", "half a character", [.json], .refused(.malformed)) {
                try signed(rsaHeader, "{\"\(claim)\":\"a\\ud800\"}")
            }
        } + [
            TokenVector("surrogate-kid", "half a character in a key's name", [.json], .refused(.malformed)) {
                try signed(#"{"alg":"RS256","kid":"rsa\udc00"}"#)
            },
            TokenVector("surrogate-member", "half a character in a claim's name", [.json], .refused(.malformed)) {
                try signed(rsaHeader, #"{"a\ud800":1}"#)
            },
            TokenVector("surrogate-deep", "half a character somewhere", [.json], .refused(.malformed)) {
                try signed(rsaHeader, #"{"aud":["x",{"y":"\udbff"}]}"#)
            },
            TokenVector("surrogate-pair", "both halves", [.json, .legitimate], .verified) {
                try signed(rsaHeader, #"{"sub":"\ud83d\ude00"}"#)
            },
            TokenVector("surrogate-replaced", "the character that stands for none", [.json, .legitimate], .verified) {
                try signed(rsaHeader, #"{"sub":"\ufffd"}"#)
            },
        ]

    /// What is made of the three parts of a good token.
    private static func changed(
        _ id: String, _ comment: String, _ flags: [Flag] = [.encoding],
        _ change: @escaping @Sendable ([String]) -> String
    ) -> TokenVector {
        TokenVector("form-\(id)", comment, flags, .refused(.malformed)) {
            change(try signed(rsaHeader).split(separator: ".").map(String.init))
        }
    }

    private static let compactForm: [TokenVector] = [
        changed("one-part", "no dot") { $0.joined() },
        changed("two-parts", "no signature, nor its dot") { "\($0[0]).\($0[1])" },
        changed("four-parts", "a dot behind") { $0.joined(separator: ".") + "." },
        changed("dot-before", "a dot before") { "." + $0.joined(separator: ".") },
        changed("five-parts", "the form of JWE") { "\($0[0])..\($0[1]).\($0[2])." },
        changed("no-header", "an empty header") { ".\($0[1]).\($0[2])" },
        changed("no-payload", "a payload that is elsewhere (RFC 7515, appendix F)") { "\($0[0])..\($0[2])" },
        changed("json", "the JSON serialization (RFC 7515 §7.2.2)") {
            "{\"protected\":\"\($0[0])\",\"payload\":\"\($0[1])\",\"signature\":\"\($0[2])\"}"
        },
        changed("wide-dots", "dots that are none") { $0.joined(separator: "\u{FF0E}") },
        changed("percent", "escaped for an address") { $0.joined(separator: "%2E") },
        changed("scheme", "with the scheme before it") { "Bearer " + $0.joined(separator: ".") },
        changed("combining", "a mark that joins the dot") { "\($0[0]).\u{301}\($0[1]).\($0[2])" },
    ]

    /// Base64url and nothing else, in each of the parts.
    private static let alphabets: [TokenVector] = (0..<3).flatMap { index in
        [
            ("padding", "="), ("padding-twice", "=="), ("plus", "+"), ("slash", "/"), ("space", " "), ("line", "\n"),
            ("lines", "\r\n"), ("tab", "\t"), ("zero", "\u{0}"), ("escaped", "%3D"), ("other", "\u{E9}"),
        ]
        .map { (name: String, suffix: String) in
            changed("\(name)-part-\(index)", "what is not in the alphabet") { parts in
                var parts = parts
                parts[index] += suffix
                return parts.joined(separator: ".")
            }
        }
    }

    /// RFC 4648 §3.5: bits behind the last byte, which stand for nothing.
    private static let trailingBits: [TokenVector] = [
        changed("bits-header", "another text for the same header") { parts in
            // 27 bytes leave none; with a space there are 28, and four bits.
            let header = Base64URL.encode(Array((rsaHeader + " ").utf8))
            return "\(header.dropLast())\(next(header)).\(parts[1]).\(parts[2])"
        },
        changed("bits-payload", "another text for the same payload") {
            "\($0[0]).\($0[1].dropLast())\(next($0[1])).\($0[2])"
        },
        changed("bits-signature", "another text for the same signature") {
            "\($0[0]).\($0[1]).\($0[2].dropLast())\(next($0[2]))"
        },
        changed("lone-character", "six bits that make no byte") { $0.joined(separator: ".") + "AAA" },
    ]

    private static func next(_ text: String) -> Character {
        Character(UnicodeScalar((text.utf8.last ?? 0) + 1))
    }

    private static let objects: [TokenVector] =
        [
            ("array", "[]"), ("string", "\"a\""), ("null", "null"), ("number", "1"), ("empty", " "), ("cut", "{"),
            ("two", "{}{}"), ("more", "{}x"), ("mark", "\u{FEFF}{}"), ("comma", "{\"a\":1,}"), ("quotes", "{'a':1}"),
            ("comment", "{}//"), ("unquoted", "{a:1}"), ("control", "{\"a\":\"\u{1}\"}"), ("zeros", "{\"a\":01}"),
            ("nan", "{\"a\":NaN}"), ("escape", "{\"a\":\"\\x41\"}"),
            ("deep", "{\"a\":" + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}"),
        ]
        .map { (name: String, payload: String) in
            TokenVector("payload-\(name)", "signed, but no JSON object", [.json], .refused(.malformed)) {
                try signed(rsaHeader, payload)
            }
        } + [
            TokenVector("payload-not-utf8", "signed, but no text", [.json, .encoding], .refused(.malformed)) {
                try TestIssuer.rsa.sign(
                    header: TestIssuer.header(TestIssuer.rsa),
                    payload: Array("{\"a\":\"".utf8) + [0xC3, 0x28, 0x22, 0x7D])
            },
            TokenVector("payload-spaces", "white space is part of what is signed", [.json, .legitimate], .verified) {
                try signed(" { \"alg\" : \"RS256\" ,\n\"kid\" : \"rsa\" } ", "\t{ }\r\n")
            },
            TokenVector("payload-twice", "of claims with one name the last counts", [.json, .legitimate], .verified) {
                try signed(rsaHeader, #"{"sub":"a","sub":"b"}"#)
            },
            TokenVector("payload-numbers", "numbers out of every range", [.json, .range, .legitimate], .verified) {
                try signed(rsaHeader, #"{"exp":1e999,"iat":-1e999,"nbf":123456789012345678901234567890}"#)
            },
        ]

    private static let sizes: [TokenVector] = [
        (16_384, Verdict.verified), (16_385, .refused(.malformed)), (1 << 20, .refused(.malformed)),
    ]
    .map { (size: Int, verdict: Verdict) in
        TokenVector("size-\(size)", "so many bytes", [.size], verdict) {
            // A claim grows the payload by three bytes, which are four characters; the header evens out the rest.
            for spaces in 0..<4 {
                let header = rsaHeader + String(repeating: " ", count: spaces)
                let rest = size - (try signed(header, #"{"a":""}"#).utf8.count)
                for count in (rest * 3 / 4 - 3)...(rest * 3 / 4 + 3) where count >= 0 {
                    let text = try signed(header, "{\"a\":\"\(String(repeating: "a", count: count))\"}")
                    if text.utf8.count == size { return text }
                }
            }
            throw TestSupportError("no token of \(size) bytes")
        }
    }
}
