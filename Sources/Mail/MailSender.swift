package import Files
import JSON
import OpenSSL
import Text
package import Time

/// What takes mail from here.
package enum MailSender: Sendable {
    case smtp(SMTPServer)
    /// Mail goes to nobody: each message is a line of JSON in the file `mail.jsonl` of this folder. For development.
    case spool(folder: String)
}

/// How the server sends mail.
package struct MailSettings: Sendable {
    package var sender: MailSender
    /// ASCII alone: it names messages, too.
    package var from: MailAddress

    package init(sender: MailSender, from: MailAddress) {
        self.sender = sender
        self.from = from
    }
}

/// A line of the spool file.
private struct SpooledMail: Encodable {
    let at: String
    let from: String
    let to: String
    let subject: String
    let text: String
}

extension MailSettings {
    package static let spoolFile = "mail.jsonl"

    /// Makes the folder of the spool file.
    package func prepare() throws(FileError) {
        if case .spool(let folder) = sender { try Folder.make(folder) }
    }

    /// Blocks until the message was taken, or was not: at most `SMTPServer.timeout`.
    package func send(_ message: MailMessage, at time: Timestamp) throws(MailError) {
        switch sender {
        case .smtp(let server):
            let id = randomBytes(16).hexadecimal
            try SMTPTransfer(
                to: server, from: from, message.recipient, message.formatted(from: from, id: id, at: time)
            ).perform()
        case .spool(let folder):
            let line = SpooledMail(
                at: time.iso8601, from: from.text, to: message.recipient.text, subject: message.subject,
                text: message.text)
            do {
                try Spool.append(line.json(), to: "\(folder)/\(Self.spoolFile)")
            } catch {
                throw MailError(.failed, "\(error)")
            }
        }
    }
}
