/// An address that mail goes to or comes from, as it stands in a header field and in a command of SMTP: nothing in it ends
/// either, so that no address can add a field, a recipient or a command.
///
/// A mailbox of RFC 5321 §4.1.2 without quoting or literals, internationalised ones included (RFC 6531). Whether somebody
/// reads it is not judged.
package struct MailAddress: Equatable, Sendable {
    package let text: String
    package let domain: String

    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count <= 254,
            text.unicodeScalars.allSatisfy(Self.isPlain), let domain = String(parts[1])
        else { return nil }
        self.text = text
        self.domain = domain
    }

    /// Whether it needs no extension of SMTP.
    package var isASCII: Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    /// Neither space nor invisible, and none of the specials of RFC 5322 §3.2.3 but `.` and `@`.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if "()<>[]:;,\"\\".unicodeScalars.contains(scalar) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            return false
        default: return true
        }
    }
}
