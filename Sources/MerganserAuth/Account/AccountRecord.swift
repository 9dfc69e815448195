import Foundation

/// What an `AccountSession` stores beside the device, in one write.
struct AccountRecord: Codable, Hashable, Sendable {
    /// Counts whose credentials were stored here: rises with a sign-out, and with a sign-in in somebody else's place, but not
    /// when the device's own bootstrap replaces a token.
    private(set) var generation = 0
    /// Personal access key (accounts §1.1).
    private(set) var token: String?
    private(set) var account: Account?
    /// Why the last one who was signed in no longer is.
    private(set) var reason = SignedOutReason.neverSignedIn
    /// The request under way that changes the credential.
    private(set) var pending: PendingRequest?
    /// Whether an answer that may have changed the credential or its user was lost for too long, and nobody was told.
    private(set) var hasLostAnswer = false
    /// Tokens that are still to be revoked.
    var revocations: [String] = []
    /// The device_uuid of a user who signed out, until the device is forgotten, too.
    private(set) var leftDevice: String?
    /// Server time minus the device's, in seconds.
    var clockOffset: TimeInterval = 0

    var signedIn: Account? { token == nil ? nil : account }

    var state: AccountState {
        guard let account = signedIn else { return .signedOut(reason) }
        return account.anonymous ? .guest(account) : .known(account)
    }

    mutating func begin(_ request: PendingRequest) { pending = request }

    mutating func signIn(_ token: String, _ account: Account) {
        if let signedIn, signedIn.id != account.id, pending?.operation != .bootstrap {
            generation += 1
            reason = .requested
        }
        self.token = token
        self.account = account
        hasLostAnswer = false
        settle()
    }

    /// The same credential, of a user who changed.
    mutating func update(_ account: Account) { self.account = account }

    /// The pending request was decided.
    mutating func settle() { pending = nil }

    /// Nobody will know what came of the pending request.
    mutating func lose() {
        if let pending, pending.operation != .bootstrap, pending.operation != .merge {
            hasLostAnswer = true
            if token == nil { reason = .signInAgain }
        }
        pending = nil
    }

    /// The app knows of the lost answer, or the server has said what became of the user.
    mutating func clearLostAnswer() { hasLostAnswer = false }

    /// - Parameter device: the device_uuid that goes with the user; nil if it is gone already.
    mutating func signOut(_ reason: SignedOutReason, leaving device: String? = nil) {
        leftDevice = device ?? leftDevice
        token = nil
        account = nil
        self.reason = hasLostAnswer && reason == .deviceUnknown ? .signInAgain : reason
        hasLostAnswer = false
        pending = nil
        generation += 1
    }

    mutating func forgot(_ device: String) { if leftDevice == device { leftDevice = nil } }
}

/// The device, apart from tokens.
struct DeviceRecord: Codable, Hashable, Sendable {
    var uuid: String?
    /// Shown by the server once.
    var secret: String?
}
