import JSON
import Testing

/// RFC 8785.
@Suite struct CanonicalTests {
    private func canonical(_ text: String) throws -> String {
        String(decoding: try JSONValue(text: text).canonicalJSON(), as: UTF8.self)
    }

    /// RFC 8785 §3.2.2.
    @Test func exampleOfTheIntroduction() throws {
        let text = #"""
            {"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
             "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}
            """#
        #expect(
            try canonical(text)
                == #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
                + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#)
    }

    /// RFC 8785 §3.2.3: by UTF-16 code units, where the emoji's surrogates come before U+FB33.
    @Test func membersAreSortedByCodeUnits() throws {
        let text = #"""
            {"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
             "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}
            """#
        #expect(
            try canonical(text)
                == "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\","
                + "\"\u{F6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20AC}\":\"Euro Sign\","
                + "\"\u{1F600}\":\"Emoji: Grinning Face\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}")
    }

    /// Appendix B.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
            (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
            (0xC340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
            (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"), (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
            (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
            (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
            (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
            (0x41B3_DE43_5555_5555, "333333333.3333333"), (0x41B3_DE43_5555_5556, "333333333.3333334"),
            (0x41B3_DE43_5555_5557, "333333333.33333343"), (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
            (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
        ] as [(UInt64, String)])
    func numbersAsECMAScriptWritesThem(bits: UInt64, expected: String) throws {
        let number = Double(bitPattern: bits)
        #expect(String(decoding: [number].canonicalJSON(), as: UTF8.self) == "[\(expected)]")
        #expect(text(number) == expected)
        #expect(try Double(text: expected) == number)
    }

    @Test(arguments: [
        (0.1, "0.1"), (1.5, "1.5"), (123_456.789, "123456.789"), (1e-7, "1e-7"), (1.25e-7, "1.25e-7"),
        (0.00001, "0.00001"),
        (100, "100"), (1e20, "100000000000000000000"), (1.5e21, "1.5e+21"), (123e18, "123000000000000000000"),
        (-1e-10, "-1e-10"), (4.5e15, "4500000000000000"), (9_007_199_254_740_991, "9007199254740991"),
        (0.5, "0.5"), (10, "10"), (1e16, "10000000000000000"),
    ])
    func furtherNumbers(number: Double, expected: String) { #expect(text(number) == expected) }

    @Test func everyNumberReadsBackTheSame() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let number = Double(bitPattern: generator.next())
            if number.isFinite { #expect(try Double(text: text(number)) == number) }
        }
    }

    @Test func integersBeyondADoubleAreRounded() {
        #expect(String(decoding: [Int64(9_007_199_254_740_993)].canonicalJSON(), as: UTF8.self) == "[9007199254740992]")
    }

    @Test func dictionariesAndNestingAreSorted() throws {
        #expect(
            String(decoding: ["b": ["d": 1, "c": 2], "a": [:], "": ["é": 0]].canonicalJSON(), as: UTF8.self)
                == #"{"":{"é":0},"a":{},"b":{"c":2,"d":1}}"#)
        #expect(try canonical(#" [ { "b" : [ ] , "a" : { } } , "x" ] "#) == #"[{"a":{},"b":[]},"x"]"#)
        #expect(try canonical(#""a""#) == #""a""#)
    }
}
