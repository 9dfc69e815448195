import Mail
import Text
import Time

extension Fuzzer {
    /// An address, a subject and a text, between which stand bytes 0xFF. Whatever they say, a reader of RFC 5322 finds the
    /// fields of one message to one recipient, and the text.
    static let mail = Fuzzer(name: "mail", maximumSize: 4096) { input in
        let parts = input.split(separator: 0xFF, maxSplits: 2, omittingEmptySubsequences: false).map(\.text)
        let address = MailAddress(parts[0])
        if let address { try check(address, parts[0]) }
        guard let sender = MailAddress("id@mail.example"), let recipient = address ?? MailAddress("bea@example.com")
        else { throw Violation("an ordinary address is one") }
        let message = MailMessage(
            to: recipient, subject: parts.count > 1 ? parts[1] : "", text: parts.count > 2 ? parts[2] : "")
        try check(message, message.formatted(from: sender, id: "0123", at: Timestamp(seconds: 1_795_339_691)))
    }

    /// It can stand between angle brackets in a header field and in a command of SMTP.
    private static func check(_ address: MailAddress, _ text: String) throws {
        try require(address.text.isIdentical(to: text), "an address is as it was given")
        let bytes = Array(text.utf8)
        try require((3...254).contains(bytes.count), "its size is limited")
        try require(
            bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"()<>[]:;,\"\\".utf8.contains($0) },
            "nothing in it ends what it stands in")
        let at = bytes.indices.filter { bytes[$0] == UInt8(ascii: "@") }
        try require(at.count == 1, "it has one @")
        try require(address.domain.isIdentical(to: bytes[(at[0] + 1)...].text), "the domain follows it")
    }

    private static func check(_ message: MailMessage, _ bytes: [UInt8]) throws {
        let lines = try lines(bytes)
        guard let end = lines.firstIndex(of: []) else { throw Violation("an empty line ends the header") }
        var fields: [(name: String, value: String)] = []
        for line in lines[..<end] {
            if line.first == 0x20 {
                guard let last = fields.indices.last else { throw Violation("the first line begins a field") }
                fields[last].value += line.text
            } else {
                let name = line.prefix { $0 != UInt8(ascii: ":") }
                try require(line.dropFirst(name.count).starts(with: Array(": ".utf8)), "a line is a field")
                fields.append((name.text, line.dropFirst(name.count + 2).text))
            }
        }
        try require(
            fields.map(\.name) == [
                "Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
                "Content-Transfer-Encoding",
            ], "the fields are these, each once")
        try require(fields[2].value.isIdentical(to: "<\(message.recipient.text)>"), "it goes to the recipient")
        try require(try decodedWords(fields[3].value) == Array(message.subject.utf8), "the subject comes back")
        try require(Base64.decode(lines[(end + 1)...].joined()) == canonical(message.text), "the text comes back")
    }

    /// Each ends with CRLF, and none but that of an internationalised recipient needs more than ASCII.
    private static func lines(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let lines = bytes.lines
        try require(lines.last == [], "the last line ends")
        return try lines.dropLast().map { line in
            try require(line.last == UInt8(ascii: "\r"), "a line ends with CRLF")
            let line = Array(line.dropLast())
            if !line.starts(with: Array("To: ".utf8)) {
                try require(line.count <= 78 && line.allSatisfy { (0x20...0x7E).contains($0) }, "lines are short ASCII")
            }
            try require(!line.contains(UInt8(ascii: "\r")), "nothing else ends a line")
            return line
        }
    }

    /// RFC 2047 §2.
    private static func decodedWords(_ text: String) throws -> [UInt8] {
        try text.split(separator: " ").flatMap { word in
            try require(word.utf8.count <= 75 && word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="), "it is a word")
            guard let bytes = Base64.decode(word.utf8.dropFirst(10).dropLast(2)),
                String(validating: bytes, as: UTF8.self) != nil
            else { throw Violation("no word parts a character") }
            return bytes
        }
    }

    /// Every line ends with CRLF.
    private static func canonical(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n"), bytes.last != UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return bytes
    }
}
