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
        /// As long as they may be, without a place to break a line.
        static let long = Names(
            application: String(repeating: "Llanfairpwllgwyngyll", count: 10),
            person: String(repeating: "Wolfeschlegelsteinhausen", count: 8),
            address: String(repeating: "donaudampfschiff", count: 15) + "@example.com")
    }

    static let plain = pieces(Names()) + console(Names())
    static let hostile = pieces(.hostile) + console(.hostile)
    static let long = (pieces(.long) + console(.long)).map { piece in
        Piece(description: "\(piece.description), long names", page: piece.page)
    }

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
            [
                .cancelled, .failed, .unavailable, .notApproved,
                .accountDeleted(purgeAt: Timestamp(seconds: 1_778_569_200)),
            ]
            + Provider.allCases.map(LoginPage.Notice.linkedToOtherAccount)
        let targets = [
            FormTarget(source: "https://acme.example", name: "acme.example", isApp: false),
            FormTarget(source: "http://127.0.0.1:9000", name: "127.0.0.1:9000", isApp: false),
            FormTarget(source: "com.example.acme:", name: "com.example.acme", isApp: true),
        ]
        return [
            Piece(description: "login", page: LoginPage(for: .application(names.application), choices: choices)),
            Piece(description: "login, device", page: LoginPage(for: .device, choices: choices)),
            Piece(description: "login, own page", page: LoginPage(for: .ownPage, choices: choices)),
            Piece(
                description: "login, signed in",
                page: LoginPage(for: .application(names.application), choices: choices, signedIn: (account, form))),
            Piece(
                description: "login, phone",
                page: LoginPage(for: .application(names.application), choices: choices, approval: form)),
            Piece(
                description: "login, phone only",
                page: LoginPage(for: .application(names.application), choices: [], approval: form)),
            Piece(
                description: "login, phone and code",
                page: LoginPage(for: .application(names.application), choices: choices, approval: form, code: form)),
            Piece(
                description: "phone",
                page: PushApprovalPage(
                    .number("47"), path: "/oauth/push?request=abc&id=x%22", loginPath: "/oauth/login?request=abc")),
            Piece(
                description: "code",
                page: PushApprovalPage(
                    .scan("https://id.example/oauth/qr/AAAAAAAAAAAAAAAAAAAAAA"), path: "/oauth/push?request=abc&id=x",
                    loginPath: "/oauth/login?request=abc")),
            Piece(
                description: "login, no provider", page: LoginPage(for: .application(names.application), choices: [])),
        ]
            + notices.map { notice in
                Piece(
                    description: "login, \(notice)",
                    page: LoginPage(for: .application(names.application), choices: choices, notice: notice))
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
            ] + accountPieces(account, names, form) + [
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
                    page: ErrorPage(
                        problem, reference: "0123456789abcdef", isFromApplication: false,
                        diagnosis: "/diagnose?client_id=x&scope=y"))
            } + [
                Piece(
                    description: "error, of an app",
                    page: ErrorPage(.expired, reference: "0123456789abcdef", isFromApplication: true))
            ]
    }

    /// The pages of a person's own account.
    private static func accountPieces(_ account: ShownUser, _ names: Names, _ form: PostForm) -> [Piece] {
        let (then, now) = (Timestamp(seconds: 1_778_569_200), Timestamp(seconds: 1_778_742_000))
        let methods = ["apple", "google"].map { provider in
            SignInMethod(provider: provider, addresses: [names.address].compactMap { $0 }, since: then)
        }
        let devices = ["ios", "android", "macos", "web"].enumerated().map { number, platform in
            ShownDevice(
                id: Int64(number), platform: platform, uuid: "c0ffee00-0000-4000-8000-000000000000",
                application: platform == "web" ? names.application : nil, since: then, lastSeen: now)
        }
        let app = ShownApp(
            clientID: "logi_1", name: names.application, scopes: ["openid", "profile:basic", "email"], since: then,
            lastUsed: now)
        let notices = [nil] + AccountPage.Notice.allCases.map(Optional.some)
        return notices.map { notice in
            Piece(
                description: "account, \(notice?.rawValue ?? "nothing said")",
                page: AccountPage(
                    account: account, methods: methods, devices: devices, apps: [app], addsMethods: true,
                    isAnonymous: false, notice: notice))
        } + [
            Piece(
                description: "account, one way to sign in",
                page: AccountPage(
                    account: account, methods: Array(methods.prefix(1)), devices: [], apps: [], addsMethods: false,
                    isAnonymous: false)),
            Piece(
                description: "account, nobody can sign in",
                page: AccountPage(
                    account: ShownUser(name: nil, email: nil), methods: [], devices: devices, apps: [app],
                    addsMethods: true, isAnonymous: true)),
        ]
            + ownPages(account, names, form)
            + AccountTripPage.Purpose.allCases.map { purpose in
                Piece(
                    description: "account, \(purpose)",
                    page: AccountTripPage(
                        purpose, from: account,
                        choices: [LoginPage.Choice(provider: .apple, href: "/auth/apple/web/start?request=abc")]))
            }
            + [false, true].map { hasChanged in
                Piece(
                    description: "account, merge, changed \(hasChanged)",
                    page: MergeQuestionPage(
                        into: account, from: ShownUser(name: names.person, email: nil),
                        provenBy: ShownIdentity(provider: .google, address: names.address),
                        moves: MergeQuestionPage.Moves(
                            methods: 1, devices: 2, apps: 3, agents: 0, approvals: 4, signIns: 5),
                        hasChanged: hasChanged, form: form))
            }
            + [
                .addMethod(ShownIdentity(provider: .google, address: names.address)), .removeMethod(methods[0]),
                .removeDevice(devices[3]), .disconnect(app), .revoke(agent(names)), .export(isRefused: false),
                .export(isRefused: true),
            ].map {
                (question: AccountQuestionPage.Question) in
                Piece(
                    description: "account, \(question)".prefix { $0 != "(" }
                        + (question == .export(isRefused: true) ? ", refused" : ""),
                    page: AccountQuestionPage(question, about: account, form: form))
            }
    }

    private static func agent(_ names: Names) -> AccountAgent {
        AccountAgent(
            id: "agt_0123456789abcdef", name: names.application, kind: "claude", actions: ["shell.exec", "git.push"],
            since: Timestamp(seconds: 1_778_569_200))
    }

    /// What has a page of its own there.
    private static func ownPages(_ account: ShownUser, _ names: Names, _ form: PostForm) -> [Piece] {
        let now = Timestamp(seconds: 1_778_742_000)
        let events = [
            "bootstrap", "session", "exchange", "linked", "promoted", "swapped", "merged", "web_login", "refused",
        ]
        let entries = events.map { event in
            SignInHistoryPage.Entry(
                event: event, provider: ["bootstrap", "exchange", "swapped"].contains(event) ? nil : "apple",
                address: "192.0.2.7", userAgent: names.application, platform: "web", at: now)
        }
        let approvals = ["pending", "approved", "rejected", "expired", "cancelled"].map { status in
            ApprovalsPage.Approval(
                title: names.application, body: status == "pending" ? "\(names.application)\n\(names.application)" : "",
                action: "shell.exec", agent: names.application, status: status, askedAt: now,
                openUntil: status == "pending" ? now : nil, decidedAt: status == "approved" ? now : nil)
        }
        let custom = AccountAgent(
            id: "agt_fedcba9876543210", name: names.application, kind: "custom", actions: [], since: now)
        func paging(_ path: String) -> Paging { Paging(path: path, isFirst: false, cursor: "7") }
        let alone = Paging(path: "/account", isFirst: true, cursor: nil)
        let pages: [(String, any WebPage)] = [
            ("history", SignInHistoryPage(entries, paging: paging("/account/history"))),
            ("no history", SignInHistoryPage([], paging: alone)), ("agents", AgentsPage([agent(names), custom])),
            ("no agents", AgentsPage([])),
            ("requests", ApprovalsPage(approvals, paging: paging("/account/approvals"))),
            ("no requests", ApprovalsPage([], paging: alone)),
            ("delete", DeleteAccountPage(account, purgeAt: now, isRestorable: false, form: form)),
            (
                "delete, wrong word",
                DeleteAccountPage(account, purgeAt: now, isRestorable: true, form: form, isWrongWord: true)
            ),
            ("deleted", AccountDeletedPage(purgeAt: now, isRestorable: false)),
            ("deleted, not for good", AccountDeletedPage(purgeAt: now, isRestorable: true)),
        ]
        return pages.map { Piece(description: "account, \($0.0)", page: $0.1) }
    }
}
