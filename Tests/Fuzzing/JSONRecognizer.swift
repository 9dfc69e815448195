/// RFC 8259 without recursion. It looks at one byte at a time, and stores only the open brackets.
struct JSONRecognizer {
    enum Verdict {
        case valid
        /// More than 64 levels of arrays and objects. The rest is not checked.
        case tooDeep
        case malformed
    }

    private enum State {
        case value, firstElement, firstName, name, colon, afterValue
        case string(isName: Bool), escape(isName: Bool), hexadecimal(Int, isName: Bool)
        case word([UInt8])
        case minus, zero, digits, point, fraction, exponentMark, exponentSign, exponent
    }

    private var state = State.value
    private var brackets: [UInt8] = []

    static func verdict(_ bytes: [UInt8]) -> Verdict {
        // What `String` repairs was no UTF-8.
        guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { return .malformed }
        var recognizer = JSONRecognizer()
        for byte in bytes {
            guard recognizer.take(byte) else { return .malformed }
            if recognizer.brackets.count > 64 { return .tooDeep }
        }
        // A number at the end of the text ends with it.
        guard recognizer.take(UInt8(ascii: " ")), case .afterValue = recognizer.state, recognizer.brackets.isEmpty
        else {
            return .malformed
        }
        return .valid
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = (0x30...0x39).contains(byte)
        switch state {
        case .string(let isName):
            if byte == UInt8(ascii: "\"") {
                state = isName ? .colon : .afterValue
            } else if byte == UInt8(ascii: "\\") {
                state = .escape(isName: isName)
            }
            return byte >= 0x20
        case .escape(let isName):
            state = byte == UInt8(ascii: "u") ? .hexadecimal(4, isName: isName) : .string(isName: isName)
            return #""\/bfnrtu"#.utf8.contains(byte)
        case .hexadecimal(let count, let isName):
            state = count == 1 ? .string(isName: isName) : .hexadecimal(count - 1, isName: isName)
            return "0123456789abcdefABCDEF".utf8.contains(byte)
        case .word(let rest):
            state = rest.count == 1 ? .afterValue : .word(Array(rest.dropFirst()))
            return byte == rest.first
        case .minus:
            state = byte == UInt8(ascii: "0") ? .zero : .digits
            return isDigit
        case .point:
            state = .fraction
            return isDigit
        case .exponentMark:
            let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            state = isSign ? .exponentSign : .exponent
            return isSign || isDigit
        case .exponentSign:
            state = .exponent
            return isDigit
        case .digits where isDigit, .fraction where isDigit, .exponent where isDigit: return true
        case .zero where byte == UInt8(ascii: "."), .digits where byte == UInt8(ascii: "."):
            state = .point
            return true
        case .zero where byte | 0x20 == UInt8(ascii: "e"), .digits where byte | 0x20 == UInt8(ascii: "e"),
            .fraction where byte | 0x20 == UInt8(ascii: "e"):
            state = .exponentMark
            return true
        case .zero, .digits, .fraction, .exponent: return takeBetweenTokens(byte, .afterValue)
        case .value, .firstElement, .firstName, .name, .colon, .afterValue: return takeBetweenTokens(byte, state)
        }
    }

    private mutating func takeBetweenTokens(_ byte: UInt8, _ expected: State) -> Bool {
        state = expected
        if [0x20, 0x09, 0x0A, 0x0D].contains(byte) { return true }
        switch (expected, byte) {
        case (.firstElement, UInt8(ascii: "]")), (.firstName, UInt8(ascii: "}")):
            brackets.removeLast()
            state = .afterValue
        case (.firstName, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")): state = .string(isName: true)
        case (.colon, UInt8(ascii: ":")): state = .value
        case (.afterValue, UInt8(ascii: ",")) where !brackets.isEmpty:
            state = brackets.last == UInt8(ascii: "[") ? .value : .name
        case (.afterValue, UInt8(ascii: "]")) where brackets.last == UInt8(ascii: "["),
            (.afterValue, UInt8(ascii: "}")) where brackets.last == UInt8(ascii: "{"):
            brackets.removeLast()
        case (.value, _), (.firstElement, _): return begin(byte)
        default: return false
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            brackets.append(byte)
            state = byte == UInt8(ascii: "[") ? .firstElement : .firstName
        case UInt8(ascii: "\""): state = .string(isName: false)
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .digits
        case UInt8(ascii: "t"): state = .word(Array("rue".utf8))
        case UInt8(ascii: "f"): state = .word(Array("alse".utf8))
        case UInt8(ascii: "n"): state = .word(Array("ull".utf8))
        default: return false
        }
        return true
    }
}
