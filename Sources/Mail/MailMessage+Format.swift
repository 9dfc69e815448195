import Text
package import Time

extension MailMessage {
    /// The message as it is sent (RFC 5322, RFC 2045): ASCII but for addresses, lines of at most 78 characters, CRLF.
    ///
    /// Subject and text are encoded whatever they hold, so nothing in them can begin another header field or part.
    ///
    /// - Parameter id: the left part of the Message-ID; no other message has it.
    package func formatted(from sender: MailAddress, id: String, at time: Timestamp) -> [UInt8] {
        let fields = [
            ("Date", Self.date(time)),
            ("From", "<\(sender.text)>"),
            ("To", "<\(recipient.text)>"),
            ("Subject", Self.encodedWords(subject)),
            ("Message-ID", "<\(id)@\(sender.domain)>"),
            // RFC 3834: nobody's absence is to be answered to it.
            ("Auto-Submitted", "auto-generated"),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "base64"),
        ]
        let header = fields.map { "\($0): \($1)\r\n" }.joined()
        return Array((header + "\r\n" + Self.encodedBody(text)).utf8)
    }

    /// `Sun, 22 Nov 2026 09:28:11 +0000` (RFC 5322 §3.3).
    static func date(_ time: Timestamp) -> String {
        let civil = CivilTime(time)
        // The epoch was a Thursday.
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [civil.hour, civil.minute, civil.second].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(days[Int(time.seconds / 86_400 % 7)]), \(civil.day) \(months[civil.month - 1]) \(civil.year) "
            + clock.joined(separator: ":") + " +0000"
    }

    /// Text as encoded words (RFC 2047 §2) in lines of at most 76 characters, the field's name included; none of them splits a
    /// character.
    static func encodedWords(_ text: String) -> String {
        // `Subject: `, `=?UTF-8?B?` and `?=` leave room for 55 characters: 39 bytes.
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > 39 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?UTF-8?B?\(Base64.encode($0))?=" }.joined(separator: "\r\n ")
    }

    /// Text in base64, in lines of 76 characters; its own lines end with CRLF (RFC 2046 §4.1.1, RFC 2045 §6.8).
    private static func encodedBody(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var rest = Base64.encode(Array(lines.joined(separator: "\r\n").utf8))[...]
        var encoded = ""
        while !rest.isEmpty {
            encoded += rest.prefix(76) + "\r\n"
            rest = rest.dropFirst(76)
        }
        return encoded
    }
}
