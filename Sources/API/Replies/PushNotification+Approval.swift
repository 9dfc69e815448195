import Accounts
import JSON
import Push
import Time

extension PushNotification {
    /// What a person is asked to decide in the app, by the word that the app knows it by.
    enum Approval: String {
        /// A sign-in in a browser (accounts §4.2).
        case signIn = "sso_approval"
        /// What an agent asks (accounts §4.1).
        case agentApproval = "agent_approval"
    }

    /// Neither a number nor what is asked is in it: who sees a phone's locked screen must not learn them, nor does Apple.
    ///
    /// - Parameters:
    ///   - id: the public one.
    ///   - title: with the text, in the language of whoever asks; the phone's is not known.
    init(_ kind: Approval, _ id: String, title: String, text: String, expiresAt: Timestamp, at issuer: String) {
        self.init(
            title: title, text: text,
            content: [
                ("kind", .string(kind.rawValue)), ("id", .string(id)),
                ("universal_link", .string("\(issuer)/push/\(id)")),
            ], expiresAt: expiresAt)
    }
}

extension Call {
    /// Leaves a notification to the thread that sends, once the answer is on its way.
    ///
    /// - Returns: nil if no sender is configured.
    func notifying(_ user: User.ID, _ notification: PushNotification) -> (@Sendable () -> Void)? {
        guard let push = service.push else { return nil }
        return { push.submit(notification, to: user.rawValue) }
    }
}
