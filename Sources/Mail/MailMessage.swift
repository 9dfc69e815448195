/// What somebody is to read: plain text, the same for every sender.
///
/// This target owns outgoing mail: the form of a message (RFC 5322), its way over SMTP with verified TLS or into a file, and
/// the queue in which it waits. It does not own what messages say or who gets them.
package struct MailMessage: Equatable, Sendable {
    package var recipient: MailAddress
    package var subject: String
    /// Lines end with `\n`.
    package var text: String

    package init(to recipient: MailAddress, subject: String, text: String) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
    }
}
