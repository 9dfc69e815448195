import JSON
import Testing

private struct Inner: Codable, Equatable {
    var b: Bool
    var a: [Int]
}

private struct Outer: Codable, Equatable {
    var z: String
    var inner: Inner
    @Nullable var nothing: String?
    var left: String?
    var number: Double
}

@Test func membersComeInTheOrderOfTheirDeclaration() throws {
    let value = Outer(z: "a/\"\\\u{8}\u{1f}한é", inner: Inner(b: true, a: [1, -2]), number: 0.5)
    let text = #"{"z":"a/\"\\\b\u001f한é","inner":{"b":true,"a":[1,-2]},"nothing":null,"number":0.5}"#
    #expect(String(decoding: value.json(), as: UTF8.self) == text)
    #expect(try Outer(json: value.json()) == value)
}
