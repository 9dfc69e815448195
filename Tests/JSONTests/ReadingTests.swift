import Foundation
import JSON
import Testing

@Suite struct ReadingTests {
    // MARK: Grammar

    @Test(arguments: [
        "{}", "[]", " [ ] ", "\t\n\r {} \n", "null", "true", "\"\"", "0", "-0", "-1", "1e5", "1E+5", "1.5e-5", "0.0",
        "[[]]",
        "[1,2]", "{\"a\":1,\"b\":[{}]}", "{\"\":0}", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"]", "[\"\u{7F}\"]",
        "123456789012345678901234567890",
        "[\"\u{2028}\"]", "1e308",
    ])
    func textIsJSON(text: String) { #expect(throws: Never.self) { try JSONValue(text: text) } }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{'a':1}",
        "{\"a\":1 \"b\":2}", "{1:2}", "{\"a\" 1}", "{,}", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"",
        "\"\\", "\"\n\"",
        "\"\u{1}\"", "nul", "nulll", "True", "tru", "falsee", "01", "-", "+1", ".5", "1.", "1e", "1e+", "-01", "0x10",
        "1_000", "NaN",
        "Infinity", "-Infinity", "{}{}", "{} x", "1 2", "// a\n1", "/* a */ 1", "\u{FEFF}{}", "{}\u{FEFF}", "\u{A0}1",
        "1\u{0}",
        "\u{0}", "[1]]", "{\"a\":1}}", "\u{B}1", "1\u{C}", "'a'",
    ])
    func textIsNotJSON(text: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONValue(text: text) }
        guard case .malformed(let offset) = error else {
            Issue.record("\(error)")
            return
        }
        #expect((0...text.utf8.count).contains(offset))
    }

    @Test(
        arguments: [
            [0xFF], [0x22, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82], [0x5B, 0xFE, 0x5D],
            [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x3A, 0x31, 0x7D],
        ] as [[UInt8]])
    func textMustBeUTF8(bytes: [UInt8]) { #expect(throws: JSONError.self) { try JSONValue(json: bytes) } }

    @Test func offsetsPointToTheFault() {
        for (text, offset) in [
            ("[1,x]", 3), ("{\"a\":tru}", 5), ("[\"ab\ncd\"]", 4), ("{} {", 3), ("[1", 2), ("\u{FEFF}1", 0),
        ] {
            #expect(throws: JSONError.malformed(offset: offset)) { try JSONValue(text: text) }
        }
        #expect(throws: JSONError.malformed(offset: 2)) { try JSONValue(json: [0x5B, 0x22, 0xFF, 0x22, 0x5D]) }
    }

    /// Whatever is cut off or changed, nothing but an error happens.
    @Test func brokenTextIsRefusedOrRead() throws {
        let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00\n"],"b":{"c":null,"d":true},"é":false}"#.utf8)
        _ = try JSONValue(json: text)
        for count in text.indices { #expect(throws: JSONError.self) { try JSONValue(json: Array(text.prefix(count))) } }
        for index in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[index] = byte
                _ = try? JSONValue(json: changed)
            }
        }
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func nestingIsLimited(open: String, close: String) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + (open == "[" ? "" : "1") + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { try JSONValue(text: nested(64)) }
        #expect(throws: JSONError.tooDeep(offset: 64 * open.utf8.count)) { try JSONValue(text: nested(65)) }
        #expect(throws: JSONError.self) { try JSONValue(text: String(repeating: open, count: 100_000)) }
    }

    // MARK: Strings

    @Test(arguments: [
        (#""\u0041""#, "A"), (#""\u00e9\u00E9""#, "éé"), (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{FFFD}"),
        (#""\ude00""#, "\u{FFFD}"), (#""a\ud83db""#, "a\u{FFFD}b"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
        (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\n""#, "\u{FFFD}\n"),
        (#""\u0000""#, "\u{0}"), (#""\/\"\\""#, "/\"\\"), (#""한\u0301""#, "한\u{301}"), (#""\ud83dé""#, "\u{FFFD}é"),
    ])
    func escapes(text: String, expected: String) throws {
        #expect(try String(text: text).utf8.elementsEqual(expected.utf8))
    }

    private struct Deciding: Decodable {
        @Exact var secret: String?
        @Exact var list: [String]
        var name: String?
    }

    @Test(arguments: [
        (#""\ud83d""#, "secret"), (#""a\uDFFFb""#, "secret"), (#""\ud83d\ud83d\ude00""#, "secret"),
        (#""x","list":["a",["\ude00"]]"#, "list"), (#""x","list":[{"\ud800":1}]"#, "list"),
    ])
    func whatDecidesHasNoLoneSurrogate(member: String, path: String) {
        let text = "{\"list\":[],\"secret\":\(member)}"
        #expect(throws: JSONError.loneSurrogate(path: path)) { try Deciding(text: text) }
    }

    @Test(arguments: ["\u{301}", #"\u0301"#, #"\ud834\udd65"#])
    func whatIsComparedHasThirtyMarksInARowAtMost(mark: String) throws {
        func body(_ count: Int, between: String = "") -> [UInt8] {
            let marks = String(repeating: mark + between, count: count)
            return Array(#"{"a":"\#(marks)e\#(marks)","b":["x","\#(marks)"],"\#(marks)":1}"#.utf8)
        }
        #expect(try ParsedJSON(body(30), isCompared: true).decode() == JSONValue(json: body(30)))
        #expect(throws: JSONError.combiningMarks(path: "a")) { try ParsedJSON(body(31), isCompared: true) }
        #expect(throws: Never.self) { try JSONValue(json: body(31)) }
        #expect(throws: Never.self) { try ParsedJSON(body(31, between: #"\n"#), isCompared: true) }
        let name = Array(#"{"\#(String(repeating: mark, count: 31))":1}"#.utf8)
        #expect(throws: JSONError.self) { try ParsedJSON(name, isCompared: true) }
    }

    @Test func aParsedTextIsReadAsOftenAsAsked() throws {
        let parsed = try ParsedJSON(Array(#"{"secret":"\ud83d","list":["x"]}"#.utf8))
        #expect(throws: JSONError.loneSurrogate(path: "secret")) { try parsed.decode(Deciding.self) }
        #expect(throws: JSONError.wrongType(path: "", expected: "an array")) { try parsed.decode([Int].self) }
        #expect(try parsed.decode() == JSONValue.object(JSONObject([("secret", "\u{FFFD}"), ("list", ["x"])])))
    }

    /// Like an object that was copied.
    @Test(
        arguments: [
            (#"{"a":1,"ab":2,"b":3}"#, 1), (#"{"a":1,"a":[2]}"#, [2]), (#"{"x":{"a":1},"y":[{"a":2}]}"#, nil),
            (#"{"\u0061":1}"#, 1), (#"{"a":1,"\u0061":"z"}"#, "z"), (#"{"b\u0061":1}"#, nil), (#"{"\u0061a":1}"#, nil),
            (#"{"\u0061":1,"a":2}"#, 2), (#"{"a":null}"#, .null),
            (#"{"a":{"a":1},"b":2}"#, ["a": 1]), ("{}", nil), (#"[{"a":1}]"#, nil), (#""a""#, nil),
        ] as [(String, JSONValue?)])
    func membersAreReadInPlace(text: String, value: JSONValue?) throws {
        let root = try ParsedJSON(Array(text.utf8)).root
        #expect(root.object?["a"] == value)
        #expect(root.object?.member("a")?.value == value)
        #expect(root.object?.indexed.parsed("a")?.value == value)
        #expect(try root.value == JSONValue(text: text))
        if case .object(let copy) = root.value { #expect(copy["a"] == value) } else { #expect(root.object == nil) }
    }

    @Test(
        arguments: [
            ("null", nil, true), (#""""#, "", true), (#""a€""#, "a€", false), (#""\u0061\n""#, "a\n", false),
            (#""\u0000""#, "\0", false), ("[]", nil, false), ("{}", nil, false), ("0", nil, false),
            ("false", nil, false),
        ] as [(String, String?, Bool)])
    func aStringIsReadInPlace(text: String, string: String?, isNullOrEmpty: Bool) throws {
        // Among others, whose bytes are not its own.
        let elements = try #require(try ParsedJSON(Array("[1,\(text),\"b\"]".utf8)).root.elements)
        #expect(elements[1].string == string)
        #expect(elements[1].utf8.map(Array.init) == string.map { Array($0.utf8) })
        #expect(elements[1].isNullOrEmpty == isNullOrEmpty)
    }

    /// Any value, wherever it stands, is written again as it stood.
    @Test(
        arguments: [
            "null", "false", "-0.10e2", "18446744073709551616", #""""#, #""a\"\u0000\ud83d""#, "[]", "[ 1 , [] ]",
            #"{"b":1,"a":{}}"#,
        ])
    func aTextIsKept(text: String) throws {
        struct Kept: Codable {
            var kept: KeptJSON
            @Nullable var orNull: KeptJSON?
            var all: [KeptJSON]
        }
        let json = #"{"kept":\#(text),"or_null":\#(text),"all":[\#(text),\#(text)]}"#
        let kept = try Kept(json: Array(json.utf8))
        #expect(String(decoding: kept.json(), as: UTF8.self) == json)
        #expect(kept.kept.value() == (try JSONValue(text: text)))
        #expect(kept.canonicalJSON() == (try JSONValue(text: json)).canonicalJSON())
    }

    /// As a value is by whatever else there is.
    @Test func aTextIsAValueToOtherCoders() throws {
        let value: JSONValue = ["a": [1, .null, "b"]]
        let written = try JSONEncoder().encode(KeptJSON(value))
        #expect(try JSONValue(json: Array(written)) == value)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(KeptJSON.self, from: written) }
    }

    @Test func namesReadInPlaceAreComparedByteForByte() throws {
        let text = #"{"café":1,"ab":2,"ac":3,"":4,"x\u0000":5,"\ud83d":6,"na\u00efve\u20ac\ud83d\ude00":7}"#
        let object = try #require(try ParsedJSON(Array(text.utf8)).root.object)
        #expect(object["caf\u{E9}"] == 1 && object["cafe\u{301}"] == nil)
        #expect(object["ab"] == 2 && object["ac"] == 3 && object["ad"] == nil && object["abc"] == nil)
        #expect(object[""] == 4 && object["x\0"] == 5 && object["x"] == nil && object["\u{FFFD}"] == 6)
        #expect(object["naïve€😀"] == 7 && object["naïve€😁"] == nil && object["naïve€"] == nil)
    }

    /// An object of so many members is copied in another way.
    @Test func theLastOfManyMembersIsReadInPlace() throws {
        let members = (0..<40).map { "\"k\($0 % 35)\":\($0)" }.joined(separator: ",")
        let root = try ParsedJSON(Array("{\(members)}".utf8)).root
        guard case .object(let copy) = root.value else { throw JSONError.malformed(offset: 0) }
        for number in 0..<36 { #expect(root.object?["k\(number)"] == copy["k\(number)"]) }
        #expect(root.object?["k4"] == 39 && root.object?["k35"] == nil)
    }

    /// As one by one, also where names are as many, or as like each other, as their index does not expect.
    @Test func anIndexFindsTheSameMembers() throws {
        // Their places depend on the first, middle and last byte, and on the length.
        let alike = (0..<40).map { number in "a\(number / 10)b\(number % 10)b" }
        let objects = [
            [], ["", "a", ""], ["é", "e\u{301}", "é"], alike, Array(alike[..<20] + alike[..<20]), alike + alike,
            alike + (0..<8).map { "x\($0)" },
            alike + (0..<9).map { "x\($0)" }, (0..<300).map { "\($0 % 250)" },
            ["message", "level", "message", "mezzage"],
        ]
        for names in objects {
            for isEscaped in [false, true] {
                var members = names.enumerated().map { "\(String(decoding: $1.json(), as: UTF8.self)):\($0)" }
                if isEscaped { members.append(#""\u0061":{"a":-1}"#) }
                let root = try ParsedJSON(Array("{\(members.joined(separator: ","))}".utf8)).root
                let object = try #require(root.object)
                let index = object.indexed
                for name in names + ["a", "x8", "e", "a0b0", "0", ""] {
                    #expect(index.parsed(name)?.value == object[name], "\(name)")
                }
            }
        }
    }

    /// What can be copied is the text of a copy, byte for byte; everything else is left to one.
    @Test(
        arguments: [
            ("{}", true), (#"{"a":"b"}"#, true), (#" { "a" : "b" , "" : "" } "#, true), (#"{"é":"€😀"}"#, true),
            (#"{"a":"12345678"}"#, true), (#"{"a":"123456789"}"#, false), (#"{"a":"€€€"}"#, false),
            (#"{"a":"b","c":"d","a":"e"}"#, false), (#"{"a":1}"#, false), (#"{"a":null}"#, false),
            (#"{"a":["b"]}"#, false), (#"{"a":{"b":"c"}}"#, false), (#"{"a":"b","c":{"d":"e"},"f":"g"}"#, false),
            (#"{"a":"\n"}"#, false), (#"{"\u0061":"b"}"#, false), (#"{"a/b":"\/"}"#, false),
        ])
    func anObjectThatCanBeCopied(text: String, canBe: Bool) throws {
        let object = try #require(try ParsedJSON(Array(text.utf8)).root.object)
        #expect(object.plainText(valuesAtMost: 8) == (canBe ? try JSONValue(text: text).json() : nil))
    }

    @Test(arguments: 0..<20) func anObjectOfSoManyMembersCanBeCopied(count: Int) throws {
        let members = (0..<count).map { "\"\($0)\":\"v\"" }.joined(separator: ",")
        let array = try #require(try ParsedJSON(Array("[0,{\(members)},{}]".utf8)).root.elements)
        let text = array[1].object?.plainText(valuesAtMost: 1)
        #expect(text == (count <= 16 ? Array("{\(members)}".utf8) : nil))
    }

    /// Eight bytes are looked at at once, from any place on.
    @Test(arguments: 0..<20) func stringsEndWhereTheyEnd(length: Int) throws {
        for plain in ["x", "é", "\u{7F}", "!", "#", "[", "]", "\u{20}", "\u{80}", "€"] {
            let before = String(repeating: plain, count: length)
            for (special, value) in [(#"\""#, "\""), (#"\\"#, "\\"), (#"\u0000"#, "\0"), (#"\n"#, "\n"), ("", "")] {
                for after in ["", "y", "1234567", "12345678"] {
                    let text = "[\"\(before)\(special)\(after)\",\"\(after)\"]"
                    let values = try JSONValue(text: text)
                    #expect(values == [.string(before + value + after), .string(after)])
                    #expect(String(decoding: values.json(), as: UTF8.self) == text)
                }
            }
            for byte in UInt8(0)..<0x20 {
                let text = Array("\"\(before)".utf8) + [byte] + Array("\"".utf8)
                #expect(throws: JSONError.malformed(offset: 1 + before.utf8.count)) { try JSONValue(json: text) }
            }
            #expect(throws: JSONError.malformed(offset: 1 + before.utf8.count)) { try JSONValue(text: "\"\(before)") }
        }
    }

    @Test func elementsAreReadInPlace() throws {
        let elements = try ParsedJSON(Array(#"[1,[2,3],{"a":[4]},"x"]"#.utf8)).root.elements
        #expect(elements?.map(\.value) == [1, [2, 3], ["a": [4]], "x"])
        #expect(try ParsedJSON(Array("[]".utf8)).root.elements?.isEmpty == true)
        #expect(try ParsedJSON(Array(#"{"a":[]}"#.utf8)).root.elements == nil)
    }

    @Test func whatDecidesReadsOtherwiseAsAnyValue() throws {
        let value = try Deciding(text: #"{"list":["\ud83d\ude00"],"name":"\ud83d","x":"\ud83d"}"#)
        #expect(value.secret == nil && value.list == ["😀"] && value.name == "\u{FFFD}")
        #expect(try Deciding(text: #"{"secret":null,"list":[]}"#).secret == nil)
        #expect(try Deciding(text: #"{"secret":"\ufffd","list":[]}"#).secret == "\u{FFFD}")
        #expect(throws: JSONError.missing(path: "list")) { try Deciding(text: "{}") }
        #expect(throws: JSONError.self) { try Deciding(text: #"{"secret":1,"list":[]}"#) }
    }

    // MARK: Names

    private struct Named: Decodable, Equatable {
        var a: Int?
        var é: Int?
    }

    @Test func lastOfRepeatedNamesCounts() throws {
        #expect(try Named(text: #"{"a":1,"a":2}"#).a == 2)
        #expect(try Named(text: #"{"a":1,"\u0061":2}"#).a == 2)
        #expect(try Named(text: #"{"a":1,"a":null}"#).a == nil)
        #expect(try Named(text: #"{"a":"x","a":2}"#).a == 2)
        #expect(try JSONValue(text: #"{"a":1,"b":2,"a":3}"#) == ["b": 2, "a": 3])
    }

    @Test func namesAreComparedByteForByte() throws {
        #expect(try Named(text: "{\"\u{E9}\":1}").é == 1)
        #expect(try Named(text: "{\"e\u{301}\":1}").é == nil)
        #expect(try Named(text: "{\"\u{E9}\":1,\"e\u{301}\":2}").é == 1)
        guard case .object(let object) = try JSONValue(text: "{\"\u{E9}\":1,\"e\u{301}\":2}") else {
            Issue.record("not an object")
            return
        }
        #expect(object.members.count == 2)
        #expect(object["e\u{301}"] == 2)
        #expect(try JSONValue(text: "\"\u{E9}\"") != JSONValue(text: "\"e\u{301}\""))
    }

    @Test func largeObjectsAreRead() throws {
        let members = (0..<10_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let read = try [String: Int](text: "{\(members),\"k7\":-7}")
        #expect(read.count == 10_000)
        #expect(read["k7"] == -7)
        #expect(read["k9999"] == 9999)
    }

    // MARK: Types

    @Test(arguments: [
        ("5", 5), ("-5", -5), ("5.0", 5), ("50e-1", 5), ("1e2", 100), ("-0", 0), ("-0.0", 0),
        ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9007199254740992.0", 9_007_199_254_740_992),
    ])
    func integralNumbersAreIntegers(text: String, expected: Int) throws {
        #expect(try Int(text: text) == expected)
        #expect(try JSONValue(text: text) == .integer(Int64(expected)))
    }

    @Test(arguments: [
        "true", "false", "null", "\"5\"", "[]", "[5]", "{}", "5.5", "1e-1", "9223372036854775808",
        "-9223372036854775809",
        "1e19", "9007199254740993.5", "1e400", "123456789012345678901234567890",
    ])
    func otherValuesAreNoIntegers(text: String) {
        #expect(throws: JSONError.self) { try Int(text: text) }
        #expect(throws: JSONError.self) { try [Int](text: "[\(text)]") }
    }

    @Test func integersHaveTheirWidth() throws {
        #expect(try UInt8(text: "255") == 255)
        #expect(throws: JSONError.wrongType(path: "", expected: "an integer between 0 and 255")) {
            try UInt8(text: "256")
        }
        #expect(throws: JSONError.self) { try UInt8(text: "-1") }
        #expect(throws: JSONError.self) { try Int32(text: "2147483648") }
        #expect(try Int32(text: "2147483647") == .max)
    }

    @Test(arguments: ["1", "0", "\"true\"", "null", "[]"])
    func otherValuesAreNoBooleans(text: String) { #expect(throws: JSONError.self) { try Bool(text: text) } }

    @Test(arguments: ["1", "true", "null", "[]", "{}"])
    func otherValuesAreNoStrings(text: String) { #expect(throws: JSONError.self) { try String(text: text) } }

    @Test func numbers() throws {
        #expect(try Double(text: "1") == 1)
        #expect(try Double(text: "0.1") == 0.1)
        #expect(try Double(text: "1e308") == 1e308)
        #expect(try Double(text: "1e-400") == 0)
        for text in ["\"1\"", "true", "1e400", "-1e400", "null"] {
            #expect(throws: JSONError.self) { try Double(text: text) }
        }
    }

    private struct Body: Decodable, Equatable {
        struct Options: Decodable, Equatable {
            var rps: [String]?
            var notifications: Bool?
        }
        enum Platform: String, Decodable { case ios }

        var name: String
        var count: Int?
        var options: Options?
        var platform: Platform?
        var any: JSONValue?
        @Nullable var nullable: String?
    }

    private static let least = #""name":"x","nullable":null"#

    @Test func nullCountsAsAbsent() throws {
        let body = try Body(
            text: #"{"unknown":{"x":[1]},\#(Self.least),"count":null,"options":null,"platform":null,"any":null}"#)
        #expect(body == (try Body(text: "{\(Self.least)}")))
        #expect(body.count == nil && body.options == nil && body.any == nil)
    }

    @Test(
        arguments: [
            ("[]", .wrongType(path: "", expected: "an object")), ("null", .wrongType(path: "", expected: "an object")),
            ("{}", .missing(path: "name")), (#"{"name":null}"#, .missing(path: "name")),
            (#"{"name":1}"#, .wrongType(path: "name", expected: "a string")),
            (#"{"name":"x"}"#, .missing(path: "nullable")),
            (
                #"{\#(least),"count":"1"}"#,
                .wrongType(path: "count", expected: "an integer between \(Int.min) and \(Int.max)")
            ),
            (#"{\#(least),"options":[]}"#, .wrongType(path: "options", expected: "an object")),
            (#"{\#(least),"options":{"rps":{}}}"#, .wrongType(path: "options.rps", expected: "an array")),
            (#"{\#(least),"options":{"rps":["a",[],1]}}"#, .wrongType(path: "options.rps[1]", expected: "a string")),
            (#"{\#(least),"options":{"rps":["a",null]}}"#, .wrongType(path: "options.rps[1]", expected: "a string")),
            (
                #"{\#(least),"options":{"notifications":1}}"#,
                .wrongType(path: "options.notifications", expected: "a boolean")
            ),
        ] as [(String, JSONError)])
    func errorsNameThePlace(text: String, expected: JSONError) {
        #expect(throws: expected) { try Body(text: text) }
    }

    @Test func typesMayRefuse() throws {
        let error = try #require(throws: JSONError.self) {
            try Body(text: #"{\#(Self.least),"platform":"windows"}"#)
        }
        guard case .refused(let path, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(path == "platform")
    }

    @Test func errorsSpeak() {
        #expect(JSONError.malformed(offset: 3).description == "malformed JSON at byte 3")
        #expect(JSONError.tooDeep(offset: 64).description == "JSON nested more than 64 levels at byte 64")
        #expect(JSONError.missing(path: "a.b").description == "a.b is missing")
        #expect(JSONError.wrongType(path: "", expected: "an object").description == "the whole text must be an object")
    }

    // MARK: PATCH

    private struct Patch: Decodable, Equatable {
        var name: Presence<String>
        var count: Presence<Int>
    }

    @Test func absentAndNullDiffer() throws {
        #expect(try Patch(text: "{}") == Patch(name: .absent, count: .absent))
        #expect(try Patch(text: #"{"name":null}"#) == Patch(name: .null, count: .absent))
        #expect(try Patch(text: #"{"name":"","count":0}"#) == Patch(name: .value(""), count: .value(0)))
        #expect(throws: JSONError.wrongType(path: "name", expected: "a string")) { try Patch(text: #"{"name":1}"#) }
    }

    // MARK: Any value

    @Test func valuesComeBack() throws {
        let value: JSONValue = [
            "null": .null, "bool": true, "int": 1, "number": 1.5, "text": "é", "list": [1, "a", [], [:]],
            "object": ["b": [:]],
        ]
        #expect(try JSONValue(json: value.json()) == value)
        #expect(
            text(value)
                == #"{"null":null,"bool":true,"int":1,"number":1.5,"text":"é","list":[1,"a",[],{}],"object":{"b":{}}}"#)
        #expect(value["list"]?.array?.count == 4)
        #expect(value["text"]?.string == "é")
        #expect(value["none"] == nil)
        #expect(try JSONValue(text: #"{"a":1,"b":2}"#) == JSONValue(text: #"{"b":2,"a":1}"#))
        #expect(try JSONValue(text: #"{"a":1}"#) != JSONValue(text: #"{"a":1,"b":2}"#))
        #expect(try JSONValue(text: "[1e400,-1e400]") == [.number(.infinity), .number(-.infinity)])
    }

    @Test func containersAskedForByHand() throws {
        enum Key: String, CodingKey { case a, b }
        struct ByHand: Decodable {
            var sum = 0

            init(from decoder: any Decoder) throws {
                let outer = try decoder.container(keyedBy: Key.self)
                let inner = try outer.nestedContainer(keyedBy: Key.self, forKey: .a)
                sum += try inner.decode(Int.self, forKey: .b)
                var list = try outer.nestedUnkeyedContainer(forKey: .b)
                while !list.isAtEnd {
                    if try list.decodeNil() { continue }
                    var nested = try list.nestedUnkeyedContainer()
                    while !nested.isAtEnd { sum += try nested.decode(Int.self) }
                    #expect(throws: JSONError.missing(path: "b[1][2]")) { try nested.decode(Int.self) }
                }
                #expect(list.count == 2)
                #expect(outer.allKeys == [.b, .a])
            }
        }
        #expect(try ByHand(text: #"{"b":[null,[1,2]],"x":0,"a":{"b":4}}"#).sum == 7)
    }
}
