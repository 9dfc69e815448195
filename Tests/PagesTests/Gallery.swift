import IdentityTokens
import Time

@testable import Pages

/// Every page in every state, with names that people and applications may have.
struct Gallery {
    struct Piece: CustomStringConvertible, Sendable {
        let description: String
        let page: any WebPage
    }

    /// The names of an application and a person.
    struct Names: Sendable {
        var application = "Acme Photos"
        var person: String? = "Jane Appleseed"
        var address: String? = "jane@example.com"

        static let hostile = Names(
            application: "<script>alert(1)</script> & \"Söhne\" 'x'", person: "</title><img src=x onerror='y'>",
            address: "\"><b>@example.com")
    }

    static let plain = pieces(Names())
    static let hostile = pieces(.hostile)

    static func pieces(_ names: Names) -> [Piece] {
        let account = ShownUser(name: names.person, email: names.address)
        let form = PostForm(action: "/a", hidden: [.init("request", "r&\"<>'"), .init("csrf_token", "t")])
        let choices = Provider.allCases.map {
            LoginPage.Choice(provider: $0, href: "/auth/\($0.rawValue)/web/start?request=abc&x=%22")
        }
        let scopes = [
            "openid", "profile:basic", "profile", "email", "phone", "address", "identity:level", "offline_access",
            "acme:level",
        ]
        let notices: [LoginPage.Notice] =
            [.cancelled, .failed, .unavailable, .accountDeleted(purgeAt: Timestamp(seconds: 1_778_569_200))]
            + Provider.allCases.map(LoginPage.Notice.linkedToOtherAccount)
        let targets = [
            FormTarget(source: "https://acme.example", name: "acme.example", isApp: false),
            FormTarget(source: "http://127.0.0.1:9000", name: "127.0.0.1:9000", isApp: false),
            FormTarget(source: "com.example.acme:", name: "com.example.acme", isApp: true),
        ]
        return [
            Piece(description: "login", page: LoginPage(application: names.application, choices: choices)),
            Piece(description: "login, device", page: LoginPage(application: nil, choices: choices)),
            Piece(
                description: "login, signed in",
                page: LoginPage(application: names.application, choices: choices, signedIn: (account, form))),
            Piece(description: "login, no provider", page: LoginPage(application: names.application, choices: [])),
        ]
            + notices.map { notice in
                Piece(
                    description: "login, \(notice)",
                    page: LoginPage(application: names.application, choices: choices, notice: notice))
            }
            + targets.map { target in
                Piece(
                    description: "consent, \(target.source)",
                    page: ConsentPage(
                        application: names.application, channel: .redirect(target), account: account, scopes: scopes,
                        decision: form, useAnotherAccount: form))
            } + [
                Piece(
                    description: "consent, device",
                    page: ConsentPage(
                        application: names.application, channel: .device(userCode: "BC2D-FG7H"),
                        account: ShownUser(name: nil, email: nil), scopes: ["openid"], decision: form,
                        useAnotherAccount: form)),
                Piece(description: "device", page: DevicePage(form: form)),
                Piece(
                    description: "device, unknown code",
                    page: DevicePage(form: form, userCode: names.application, notice: .unknownCode)),
                Piece(
                    description: "device, too many tries",
                    page: DevicePage(form: form, userCode: "BC2D-FG7H", notice: .tooManyTries)),
                Piece(description: "device, connected", page: DeviceDonePage(isAllowed: true)),
                Piece(description: "device, not connected", page: DeviceDonePage(isAllowed: false)),
                Piece(description: "sign out", page: SignOutPage(account: account, form: form)),
                Piece(description: "signed out", page: SignedOutPage()),
                Piece(description: "diagnose", page: DiagnosePage()),
                Piece(
                    description: "diagnose, answered",
                    page: DiagnosePage(
                        question: DiagnosePage.Question(
                            url: names.application, clientID: "logi_1", redirectURI: "my_app:/", scope: "openid",
                            codeChallengeMethod: "plain"),
                        standing: .inactive,
                        checks: zip(
                            ["scheme_underscore", "redirect_unregistered", "pkce_missing"],
                            DiagnosePage.Status.allCases
                        ).map { DiagnosePage.Check(id: $0, status: $1, message: names.application) },
                        server: ["database", "signing_key", "migrations"].map {
                            DiagnosePage.Check(id: $0, status: .ok, message: "ok")
                        })),
                Piece(description: "error codes", page: ErrorCodesPage()),
            ]
            + ErrorPage.Problem.allCases.map { problem in
                Piece(
                    description: "error, \(problem)",
                    page: ErrorPage(problem, reference: "0123456789abcdef", diagnosis: "/diagnose?client_id=x&scope=y"))
            }
    }
}
