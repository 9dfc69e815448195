import Testing
import Text
import Time

@testable import Mail

/// The form of a message (RFC 5322).
@Suite struct FormatTests {
    private static let sender = MailAddress("id@mail.example")

    private func lines(subject: String = "Your code", text: String = "One\nTwo\n") throws -> [String] {
        let message = MailMessage(
            to: try #require(MailAddress("bea@example.com")), subject: subject, text: text)
        let bytes = message.formatted(
            from: try #require(Self.sender), id: "0123", at: Timestamp(seconds: 1_795_339_691))
        let whole = String(decoding: bytes, as: UTF8.self)
        #expect(whole.hasSuffix("\r\n"))
        let lines = whole.split(separator: "\r\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        // No other line end, nothing but ASCII, and no line that has to be folded.
        #expect(
            lines.allSatisfy { line in line.utf8.count <= 78 && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
        return lines
    }

    @Test func aMessageIsExactlyThis() throws {
        #expect(
            try lines() == [
                "Date: Sun, 22 Nov 2026 09:28:11 +0000", "From: <id@mail.example>", "To: <bea@example.com>",
                "Subject: =?UTF-8?B?WW91ciBjb2Rl?=", "Message-ID: <0123@mail.example>",
                "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: base64", "", "T25lDQpUd28NCg==",
            ])
    }

    @Test(arguments: [
        "", "계정을 합치기 위한 코드", String(repeating: "👩‍👩‍👧 한글 é ", count: 40), "a\r\nBcc: eve@example.com\r\n\r\nbody", "\0",
        "=?UTF-8?B?",
    ])
    func whateverASubjectSaysIsOneField(subject: String) throws {
        let lines = try lines(subject: subject)
        let start = try #require(lines.firstIndex { $0.hasPrefix("Subject: ") })
        let end = try #require(lines.firstIndex { $0.hasPrefix("Message-ID: ") })
        #expect(lines[(start + 1)..<end].allSatisfy { $0.hasPrefix(" =?UTF-8?B?") })
        let words = lines[start..<end].joined().replacing("Subject:", with: "").split(separator: " ")
        let decoded = try words.map { word in
            #expect(word.utf8.count <= 66 && word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="))
            let bytes = try #require(Base64.decode(word.dropFirst(10).dropLast(2).utf8))
            return try #require(String(validating: bytes, as: UTF8.self), "a word parts a character")
        }
        #expect(decoded.joined().utf8.elementsEqual(subject.utf8))
    }

    @Test(arguments: ["", ".", "\n.\nQUIT\n", String(repeating: "길다 ", count: 400)])
    func whateverATextSaysIsTheBody(text: String) throws {
        let lines = try lines(text: text)
        let body = lines[(try #require(lines.firstIndex(of: "")) + 1)...]
        let decoded = try #require(Base64.decode(body.joined().utf8))
        #expect(String(decoding: decoded, as: UTF8.self) == text.replacing("\n", with: "\r\n"))
    }

    @Test(arguments: [
        (0, "Thu, 1 Jan 1970 00:00:00 +0000"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000"),
        (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 +0000"),
    ])
    func datesAreThoseOfTheCalendar(seconds: Int64, date: String) {
        #expect(MailMessage.date(Timestamp(seconds: seconds)) == date)
    }

    @Test(arguments: [
        "bea@example.com", "bea+x.y_z@ex-ample.co.kr", "merganser@localhost", "베아@예시.한국", "o'brien@example.com",
    ])
    func theseAreAddresses(text: String) {
        #expect(MailAddress(text)?.text == text)
    }

    @Test(arguments: [
        "", "@", "bea", "bea@", "@example.com", "a@b@example.com", "bea@example.com\r\nBcc: eve@example.com",
        "bea@example.com>", "<bea@example.com", "bea example@example.com", "\"bea\"@example.com", "bea@[127.0.0.1]",
        "bea@example.com,eve@example.com", "bea@example.com\n", "bea@example.com\0", "bea@exa\u{2028}mple.com",
        "bea@exa\u{200B}mple.com", "bea@exa\u{85}mple.com", "bea@example.com\u{202E}", "bea@example.com ",
        "bea(x)@example.com", "bea@example.com;", "bea\\@example.com", String(repeating: "a", count: 250) + "@a.kr",
    ])
    func theseAreNone(text: String) {
        #expect(MailAddress(text) == nil)
    }
}
