extension KeyVector {
    /// RFC 7517 §4.1, RFC 7518 §6.4, RFC 8037.
    static let otherTypes: [KeyVector] = [
        KeyVector("oct", "a secret", [.algorithm], #"{"kty":"oct","kid":"a","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMko"}"#),
        KeyVector(
            "okp-ed25519", "the key of RFC 8037, appendix A.2", [.algorithm],
            #"{"kty":"OKP","kid":"a","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#),
        KeyVector(
            "okp-x25519", "a key that agrees on others (RFC 8037 §3.2)", [.algorithm],
            #"{"kty":"OKP","kid":"a","crv":"X25519","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}"#),
        KeyVector("okp-p256", "a point of P-256 under that type", [.algorithm], p256(more: ",\"kty\":\"OKP\"")),
        KeyVector("kty-absent", "no type", [.json], rsa(more: ",\"kty\":null")),
        KeyVector("kty-case", "a type in lower case", [.json], rsa(more: ",\"kty\":\"rsa\"")),
        KeyVector("kty-array", "types", [.json], rsa(more: ",\"kty\":[\"RSA\"]")),
        KeyVector("kty-last-bad", "two types: the last counts", [.json], rsa(more: ",\"kty\":\"oct\"")),
        KeyVector(
            "kty-escaped", "a type with escapes", [.json, .legitimate], isUsable: true,
            rsa(more: #","kty":"\u0052SA""#)),
        KeyVector("kid-absent", "no name", [.keyChoice], rsa(more: ",\"kid\":null")),
        KeyVector("kid-number", "a number for a name", [.keyChoice], rsa(more: ",\"kid\":1")),
        KeyVector("kid-array", "names", [.keyChoice], rsa(more: ",\"kid\":[\"a\"]")),
        KeyVector("kid-empty", "an empty name", [.keyChoice, .legitimate], isUsable: true, rsa(more: ",\"kid\":\"\"")),
        KeyVector(
            "private", "the private exponent beside it: the public half is what it was", [.legitimate], isUsable: true,
            rsa(more: ",\"d\":\"AQAB\"")),
        KeyVector(
            "certificate", "a chain, which is not looked at", [.legitimate], isUsable: true,
            rsa(more: ",\"x5c\":[\"AAAA\"],\"x5t\":\"AA\",\"x5u\":\"https://attacker.example\"")),
        KeyVector("unknown", "members of others", [.legitimate], isUsable: true, rsa(more: ",\"nbf\":1,\"x\":{}")),
    ]

    /// RFC 7517 §4.2 to §4.4.
    static let purposes: [KeyVector] =
        [
            ("use-sig", ",\"use\":\"sig\"", true), ("use-enc", ",\"use\":\"enc\"", false),
            ("use-case", ",\"use\":\"SIG\"", false), ("use-other", ",\"use\":\"tls\"", false),
            ("use-null", ",\"use\":null", false), ("use-array", ",\"use\":[\"sig\"]", false),
            ("ops-verify", ",\"key_ops\":[\"verify\"]", true),
            ("ops-both", ",\"key_ops\":[\"sign\",\"verify\"]", true),
            ("ops-sign", ",\"key_ops\":[\"sign\"]", false), ("ops-none", ",\"key_ops\":[]", false),
            ("ops-encrypt", ",\"key_ops\":[\"encrypt\",\"wrapKey\"]", false),
            ("ops-string", ",\"key_ops\":\"verify\"", false), ("ops-null", ",\"key_ops\":null", false),
            ("ops-case", ",\"key_ops\":[\"Verify\"]", false),
            ("ops-twice", ",\"key_ops\":[\"verify\",\"verify\"]", false),
            ("ops-not-strings", ",\"key_ops\":[\"verify\",1]", false),
            ("ops-nested", ",\"key_ops\":[[\"verify\"]]", false),
            ("use-and-ops", ",\"use\":\"sig\",\"key_ops\":[\"verify\"]", true),
            ("use-sig-ops-encrypt", ",\"use\":\"sig\",\"key_ops\":[\"verify\",\"encrypt\"]", false),
            ("use-enc-ops-verify", ",\"use\":\"enc\",\"key_ops\":[\"verify\"]", false),
            ("alg-own", ",\"alg\":\"RS256\"", true), ("alg-ec", ",\"alg\":\"ES256\"", false),
            ("alg-pss", ",\"alg\":\"PS256\"", false), ("alg-512", ",\"alg\":\"RS512\"", false),
            ("alg-mac", ",\"alg\":\"HS256\"", false), ("alg-none", ",\"alg\":\"none\"", false),
            ("alg-encryption", ",\"alg\":\"RSA-OAEP\"", false), ("alg-empty", ",\"alg\":\"\"", false),
            ("alg-null", ",\"alg\":null", false), ("alg-array", ",\"alg\":[\"RS256\"]", false),
        ]
        .map { name, members, isUsable in
            KeyVector(name, "what it says it is for", [.purpose], isUsable: isUsable, rsa(more: members))
        }
}
