package import ErrorCodes
package import IdentityTokens

/// Everything pages say, once in every language: a text that one of them lacks does not compile.
///
/// What is `HTML` holds a name that people or applications chose, set apart as such.
package protocol Texts: Sendable {
    // On several pages
    var unnamedAccount: String { get }
    var continueButton: String { get }
    var cancelButton: String { get }
    /// Before the title of a window whose page reports a mistake.
    var errorPrefix: String { get }
    var reference: String { get }
    var help: String { get }
    var privacy: String { get }

    // Signing in
    var signIn: String { get }
    var chooseAccount: String { get }
    func toContinue(to application: HTML) -> HTML
    var toConnectDevice: HTML { get }
    var toOpenPage: HTML { get }
    func continueWith(_ provider: Provider) -> String
    var orUseAnotherAccount: String { get }
    var noProvider: String { get }
    func notice(_ notice: LoginPage.Notice) -> String

    // Approving on a phone
    var orOnPhone: String { get }
    var emailLabel: String { get }
    var approveOnPhone: String { get }
    var typeTheNumber: String { get }
    var approvalPatience: String { get }
    var scanCode: String { get }
    var scanTheCode: String { get }
    var checkAgain: String { get }
    var signInAnotherWay: String { get }
    /// Of the notification on the phone.
    var pushTitle: String { get }
    var pushText: String { get }
    var agentPushTitle: String { get }
    var agentPushText: String { get }

    // Consent
    func allowApplication(_ application: HTML) -> HTML
    func allowApplicationTitle(_ application: String) -> String
    func connectDevice(to application: HTML) -> HTML
    func connectDeviceTitle(_ application: String) -> String
    func willBeAble(_ application: HTML) -> HTML
    /// What a scope lets an application do, as a sentence without a full stop (accounts §2.8).
    func scope(_ name: String) -> String
    func leadsToSite(_ host: HTML) -> HTML
    func leadsToApp(_ scheme: HTML) -> HTML
    var useAnotherAccount: String { get }
    var allowButton: String { get }
    var compareCode: String { get }
    var onlyOwnDevice: String { get }

    // Devices
    var connectADevice: String { get }
    var typeTheCode: String { get }
    var codeLabel: String { get }
    func notice(_ notice: DevicePage.Notice) -> String
    var deviceConnected: String { get }
    var deviceConnectedNext: String { get }
    var deviceNotConnected: String { get }
    var deviceNotConnectedNext: String { get }

    // Signing out
    var signOut: String { get }
    var signOutQuestion: String { get }
    var signOutEffect: String { get }
    var signedOut: String { get }
    var signedOutNext: String { get }

    // A person's own account
    var account: any AccountTexts { get }

    // What cannot go on
    func heading(_ problem: ErrorPage.Problem) -> String
    func explanation(_ problem: ErrorPage.Problem) -> String
    var startAgain: String { get }
    var startAgainInApp: String { get }
    var forDevelopers: String { get }
    var diagnoseThis: String { get }

    // Diagnosis
    var diagnose: String { get }
    var diagnoseIntroduction: String { get }
    var authorizeURL: String { get }
    var orInParts: String { get }
    var clientID: String { get }
    var redirectURI: String { get }
    var scopes: String { get }
    var challengeMethod: String { get }
    var optional: String { get }
    var checkButton: String { get }
    var application: String { get }
    func application(_ standing: DiagnosePage.Standing) -> String
    var checks: String { get }
    var server: String { get }
    func status(_ status: DiagnosePage.Status) -> String
    /// A check by its id, nil for one that has no name.
    func check(_ id: String) -> String?
    /// What a check found, and what to do.
    func finding(_ check: DiagnosePage.Check) -> String

    // Mail, as plain text
    var mergeCodeSubject: String { get }
    /// To whoever reads the mail of an account that somebody else wants to merge with theirs.
    func mergeCode(_ code: String, at issuer: String) -> String

    // Administration
    var console: ConsoleTexts { get }

    // Error codes
    var errorCodes: String { get }
    var errorCodesIntroduction: String { get }
    func section(_ section: ErrorCode.Section) -> String
    func meaning(_ code: ErrorCode) -> String
}

extension Texts {
    /// A name that somebody chose: it may run in the other direction, and must not drag its surroundings along.
    func name(_ name: String) -> HTML { "<bdi class=\"name\">\(name)</bdi>" }
}
