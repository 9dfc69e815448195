import Dispatch
import JSON
import Synchronization
import Testing

/// The bytes that leave the server.
@Suite struct WritingTests {
    private struct Inner: Encodable {
        var b: Bool
        var a: [Int]
    }

    private struct Outer: Encodable {
        enum Kind: String, Encodable { case user }

        var z: String
        var inner: Inner
        @Nullable var nothing: String?
        @Nullable var something: Int?
        var left: String?
        var kind: Kind
        var list: [Inner]
        var none: [String]
        var a: Int64
    }

    @Test func membersComeInTheOrderOfTheirDeclaration() {
        let value = Outer(
            z: "z", inner: Inner(b: true, a: [1, -2]), something: 3, kind: .user,
            list: [Inner(b: false, a: []), Inner(b: true, a: [0])], none: [], a: 9_007_199_254_740_993)
        #expect(
            text(value)
                == #"{"z":"z","inner":{"b":true,"a":[1,-2]},"nothing":null,"something":3,"kind":"user","#
                + #""list":[{"b":false,"a":[]},{"b":true,"a":[0]}],"none":[],"a":9007199254740993}"#)
    }

    @Test func listsOfStrings() {
        struct Lists: Encodable {
            var scopes = ["a\"b", "é", ""]
            var nested = [["x"], []]
            @Nullable var some: [String]? = ["y"]
            @Nullable var none: [String]?
        }
        #expect(text(Lists()) == #"{"scopes":["a\"b","é",""],"nested":[["x"],[]],"some":["y"],"none":null}"#)
        #expect(text(["one", "two"]) == #"["one","two"]"#)
    }

    @Test(arguments: [
        ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#),
        ("\u{0}\u{1}\u{F}\u{10}\u{1F}", #""\u0000\u0001\u000f\u0010\u001f""#), ("\u{7F}\u{2028}", "\"\u{7F}\u{2028}\""),
        ("한글 é 😀", "\"한글 é 😀\""), ("e\u{301}", "\"e\u{301}\""), ("a\r\nb", #""a\r\nb""#),
    ])
    func stringsAreEscapedOnlyWhereTheyMust(value: String, expected: String) throws {
        #expect(text(value) == expected)
        #expect(text([value: value]) == "{\(expected):\(expected)}")
        #expect(try String(text: expected).utf8.elementsEqual(value.utf8))
    }

    /// Names are kept once they were written, by position. What is left out moves those after it to other positions.
    @Test func namesAtAnyPosition() {
        struct Left: Encodable {
            var firstID: Int?
            var secondID: Int?
            var thirdName: String?
            var fourth: [Left]?
        }
        struct Right: Encodable {
            var thirdName: String?
            var secondID: Int?
            var firstID: Int?
        }
        let wrong = Mutex<[String]>([])
        @Sendable func check(_ written: String, _ expected: String) {
            if written != expected { wrong.withLock { $0.append("\(written), not \(expected)") } }
        }
        // Each thread begins with another form, so that each slot is filled by any of them.
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<64 {
                let form = (thread * 5 + round) % 16
                func part<Value>(_ bit: Int, _ value: Value) -> Value? { form & 1 << bit == 0 ? nil : value }
                func joined(_ members: String?...) -> String {
                    "{" + members.compactMap { $0 }.joined(separator: ",") + "}"
                }
                let inner = Right(thirdName: part(3, "c"), secondID: part(0, 2), firstID: part(1, 1))
                check(
                    text(inner),
                    joined(part(3, #""third_name":"c""#), part(0, #""second_id":2"#), part(1, #""first_id":1"#)))
                let left = Left(
                    firstID: part(0, 1), secondID: part(1, 2), thirdName: part(2, "c"), fourth: part(3, [Left()]))
                check(
                    text(left),
                    joined(
                        part(0, #""first_id":1"#), part(1, #""second_id":2"#), part(2, #""third_name":"c""#),
                        part(3, #""fourth":[{}]"#)))
            }
        }
        #expect(wrong.withLock { $0 } == [])
    }

    /// A member has room for exactly its longest value if its name stands as it is, and nothing beside it is written.
    @Test func membersHaveRoom() {
        struct Named: Encodable {
            var s = "a\"\n"
            var least = Int64.min
            @Nullable var none: String?
            var isSo = false
            var isNot = true
            var empty = ""
            var plain = "12345678"
            var width = Int.min
        }
        struct Chosen: Encodable {
            enum CodingKeys: String, CodingKey { case least, s, isSo, none, empty, isNot, width, plain }
            var least = Int64.min
            var s = "a\"\n"
            var isSo = false
            @Nullable var none: String?
            var empty = ""
            var isNot = true
            var width = Int.min
            var plain = "12345678"
        }
        let number = "-9223372036854775808"
        #expect(
            text(Named())
                == #"{"s":"a\"\n","least":\#(number),"none":null,"is_so":false,"is_not":true,"empty":"","#
                + #""plain":"12345678","width":\#(number)}"#)
        #expect(
            text(Chosen())
                == #"{"least":\#(number),"s":"a\"\n","isSo":false,"none":null,"empty":"","isNot":true,"#
                + #""width":\#(number),"plain":"12345678"}"#)
        // The first member.
        struct Flag: Encodable {
            enum CodingKeys: String, CodingKey { case f }
            var f: Bool?
        }
        #expect(text(Flag(f: false)) == #"{"f":false}"#)
        #expect(text(Flag()) == "{}")
        #expect(text(["n": JSONValue.null, "m": 1] as JSONValue) == #"{"n":null,"m":1}"#)
    }

    @Test func integersOfEveryWidth() {
        #expect(text([Int.min, Int.max]) == "[-9223372036854775808,9223372036854775807]")
        #expect(text([UInt64.max]) == "[18446744073709551615]")
        #expect(text([Int8.min]) == "[-128]")
        #expect(text([UInt8.max]) == "[255]")
        #expect(text([Int16.min]) == "[-32768]")
        #expect(text([UInt16.max]) == "[65535]")
        #expect(text([Int32.min]) == "[-2147483648]")
        #expect(text([UInt32.max]) == "[4294967295]")
        #expect(text([UInt.max]) == "[18446744073709551615]")
        #expect(text([Int64.min]) == "[-9223372036854775808]")
    }

    @Test func numbersThatAreNotFiniteAreNull() {
        #expect(text([Double.nan, .infinity, -.infinity, 1.5, -0.0, 100]) == "[null,null,null,1.5,0,100]")
        #expect(text([Float(0.1), Float(3)]) == "[0.1,3]")
    }

    @Test func everyKindOfValueCanBeTheWholeText() {
        #expect(text("a") == #""a""#)
        #expect(text(1) == "1")
        #expect(text(true) == "true")
        #expect(text(Int?.none) == "null")
        #expect(text([Int]()) == "[]")
        #expect(text([String: Int]()) == "{}")
        #expect(text([nil, 1] as [Int?]) == "[null,1]")
        #expect(text([[1], [], [[2]]] as [JSONValue]) == "[[1],[],[[2]]]")
    }

    @Test func valueThatWritesNothingIsAnEmptyObject() {
        struct Empty: Encodable {}
        struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
        #expect(text(Empty()) == "{}")
        #expect(text([Silent()]) == "[{}]")
    }

    // MARK: Containers asked for by hand

    private enum Key: String, CodingKey { case a, b, c, d }

    @Test func nestedContainersMayBeFilledInAnyOrder() {
        struct Interleaved: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Key.self)
                try outer.encode(1, forKey: .a)
                var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .b)
                var list = outer.nestedUnkeyedContainer(forKey: .c)
                try inner.encode("x", forKey: .a)
                try list.encode(1)
                try outer.encode(true, forKey: .d)
                var deeper = list.nestedContainer(keyedBy: Key.self)
                try deeper.encodeNil(forKey: .a)
                try list.encode(2)
                try inner.encode([1.5], forKey: .b)
                var deepest = list.nestedUnkeyedContainer()
                try deepest.encode("y")
            }
        }
        #expect(
            text([Interleaved()]) == #"[{"a":1,"b":{"a":"x","b":[1.5]},"c":[1,{"a":null},2,["y"]],"d":true}]"#)
    }

    private class Base: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("base", forKey: .a)
        }
    }

    private final class Derived: Base {
        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("derived", forKey: .b)
            try super.encode(to: container.superEncoder(forKey: .c))
            var list = container.nestedUnkeyedContainer(forKey: .d)
            try super.encode(to: list.superEncoder())
        }
    }

    @Test func inheritedMembersComeFirst() {
        #expect(text(Derived()) == #"{"a":"base","b":"derived","c":{"a":"base"},"d":[{"a":"base"}]}"#)
    }

    @Test func arrayKnowsItsCount() {
        struct Counting: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                for _ in 0..<3 { try list.encode(list.count) }
            }
        }
        #expect(text(Counting()) == "[0,1,2]")
    }
}
