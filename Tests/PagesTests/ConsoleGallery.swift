import Time

@testable import Pages

/// The pages of administration.
extension Gallery {
    /// What is the same in every language, because it is a machine's or a person's word.
    static let consoleWords: Set<Substring> = [
        "UUID", "apple", "google", "000123.abc", "A0000000-0000-0000-0000-000000000000", "ios", "logi_1",
        "openid email",
        "session_token", "public", "https://acme.example/cb", "com.example.acme://cb", "https://acme.example/bye",
        "https://acme.example/app", "name", "redirect_uris",
        "https://acme.example/hook", "evt_01J00000000000000000000001", "user.merged", "HTTP 500", "0123456789abcdef",
        "user:1", "192.0.2.7", #"{&quot;count&quot;:1}"#, "Apple jane@example.com", "anonymous_swap",
        "Google 000123.abc", "anonymous_swap, 2026-05-12, logi_1", "session_token, 2026-05-12",
        "funnel_events", "A0000000-0000-0000-0000-0000…", "A0000000-0000-0000-0000-000…", "2026-05-12",
    ]

    static func console(_ names: Names) -> [Piece] {
        let time = Timestamp(seconds: 1_778_569_200)
        let form = PostForm(action: "/admin/a", hidden: [.init("token", "t&\"<>'")])
        let user = ConsoleUser(
            id: "17", name: names.person, address: names.address, kind: .previouslyAnonymous, role: .developer,
            createdAt: time, lastActiveAt: time)
        let gone = ConsoleUser(
            id: "42", name: nil, address: nil, kind: .anonymous, role: .user, createdAt: time, lastActiveAt: time,
            deletedAt: time, purgeAt: time, mergedInto: "17")
        let entry = ConsoleAuditEntry(
            id: "9", at: time, user: "17", actor: "user:1", action: "user.merged", requestID: "0123456789abcdef",
            ip: "192.0.2.7", details: #"{"count":1}"#)
        func merge(_ id: String, _ undoState: ConsoleMerge.UndoState) -> ConsoleMerge {
            ConsoleMerge(
                id: id, survivor: "17", absorbed: "42", via: "session_token", at: time, undoState: undoState)
        }
        func mergePage(
            _ undo: MergePage.Undo, _ undoState: ConsoleMerge.UndoState = .possible(until: time), isDone: Bool = false,
            isRefused: Bool = false
        ) -> MergePage {
            MergePage(
                merge: merge("3", undoState), accounts: [user, gone], undo: undo, isDone: isDone, isRefused: isRefused)
        }
        func preview(_ conflicts: [MergePage.Conflict]) -> MergePage.Undo {
            .possible(
                MergePage.Preview(
                    restored: 12, unlinkedSubs: conflicts.isEmpty ? [] : ["18", "19"], conflicts: conflicts, form: form)
            )
        }
        let conflicts = MergePage.Conflict.Reason.allCases.map {
            MergePage.Conflict(table: "devices", key: "7", reason: $0)
        }
        func paging(_ path: String) -> Paging { Paging(path: path, isFirst: false, cursor: "7") }
        func contents(
            devices: Int, isAbsorbed: Bool = false, truncated: Set<UserPage.List> = []
        ) -> UserPage.Contents {
            UserPage.Contents(
                nickname: names.person,
                identities: [
                    UserPage.Identity(
                        provider: "apple", sub: "000123.abc", email: names.address, isVerified: true, linkedAt: time),
                    UserPage.Identity(
                        provider: "google", sub: "000123.abc", email: nil, isVerified: false, linkedAt: time),
                ],
                devices: (0..<devices).map { number in
                    UserPage.Device(
                        uuid: "A0000000-0000-0000-0000-000000000000", platform: "ios", hasSecret: number == 0,
                        lastSeenAt: time)
                },
                grants: [
                    UserPage.Grant(
                        clientID: "logi_1", name: names.application, sub: "17", scopes: ["openid", "email"],
                        createdAt: time, revokedAt: nil),
                    UserPage.Grant(
                        clientID: "logi_2", name: names.application, sub: "18", scopes: ["openid", "email"],
                        createdAt: time, revokedAt: time),
                ], absorption: isAbsorbed ? UserPage.Link(merge: "3", user: "17", via: "session_token", at: time) : nil,
                links: [UserPage.Link(merge: "3", user: "42", via: "session_token", at: time)],
                absorbedSubs: [UserPage.AbsorbedSub(clientID: "logi_1", sub: "42", via: "anonymous_swap", at: time)],
                livePAKs: 2, webSessions: 1, pendingApprovals: 0, truncated: truncated)
        }
        func page(_ user: ConsoleUser, _ contents: UserPage.Contents, isDone: Bool = false) -> UserPage {
            UserPage(
                user: user, contents: contents, timeline: [entry], paging: paging("/admin/users/17"), role: form,
                revokeSessions: form, restore: form, isDone: isDone)
        }
        func application(_ status: ConsoleApplication.Status, changes: Bool) -> ConsoleApplication {
            ConsoleApplication(
                clientID: "logi_1", name: names.application, type: "public", status: status,
                owner: changes ? "17" : nil,
                redirectURIs: ["https://acme.example/cb", "com.example.acme://cb"],
                postLogoutRedirectURIs: changes ? ["https://acme.example/bye"] : [], scopes: ["openid", "email"],
                appLink: changes ? "https://acme.example/app" : nil, webhook: "https://acme.example/hook",
                webhookDisabledAt: changes ? time : nil,
                flags: ConsoleApplication.Flags(
                    allowAnonymousGrants: true, firstParty: false, linkedSubDetails: true), createdAt: time,
                changes: changes
                    ? [ConsoleApplication.Change(name: "name", now: [names.application], wanted: [names.application])]
                    : [])
        }
        func outbox(_ state: ConsoleEvent.State, _ events: Int) -> OutboxPage {
            OutboxPage(
                state: state,
                events: (0..<events).map { _ in
                    ConsoleEvent(
                        id: "evt_01J00000000000000000000001", clientID: "logi_1", type: "user.merged", attempts: 14,
                        occurredAt: time, nextAttemptAt: time, deliveredAt: time, deadAt: time, reason: "HTTP 500",
                        replay: form)
                }, paging: paging("/admin/webhook_outbox?state=dead"), isDone: true)
        }
        let days = (1...30).map { "2026-05-\($0 < 10 ? "0" : "")\($0)" }
        return [
            Piece(
                description: "console, overview",
                page: OverviewPage(
                    users: OverviewPage.Users(identified: 12, anonymous: 3456, deleted: 1, merged: 2),
                    outbox: OverviewPage.Outbox(
                        oldestDue: 0, dead: 4, mayHaveMoreDead: false, openBreakers: 1, disabledEndpoints: 0),
                    applicationsAwaitingApproval: 1, days: days,
                    counts: [.newUsers: Array(0..<30), .signIns: Array(repeating: 0, count: 30)])),
            Piece(
                description: "console, people",
                page: UsersPage(
                    query: names.address ?? "", users: [user, gone], paging: paging("/admin/users?query=x"))),
            Piece(
                description: "console, nobody",
                page: UsersPage(
                    query: names.application, users: [],
                    paging: Paging(path: "/admin/users", isFirst: true, cursor: nil))),
            Piece(description: "console, person", page: page(user, contents(devices: 2), isDone: true)),
            Piece(description: "console, person with many devices", page: page(user, contents(devices: 60))),
            Piece(
                description: "console, person with more than is shown",
                page: page(user, contents(devices: 20, truncated: Set(UserPage.List.allCases)))),
            Piece(description: "console, merged person", page: page(gone, contents(devices: 0, isAbsorbed: true))),
            Piece(
                description: "console, merges",
                page: MergesPage(
                    user: "17",
                    merges: [
                        merge("3", .possible(until: time)), merge("s12", .undone(at: time)), merge("2", .impossible),
                    ],
                    sorting: Sorting(path: "/admin/merges?user_id=17", isOldestFirst: true),
                    paging: paging("/admin/merges"))),
            Piece(description: "console, merge", page: mergePage(preview([]))),
            Piece(description: "console, merge with changes", page: mergePage(preview(conflicts))),
            Piece(
                description: "console, merge that was not undone", page: mergePage(preview(conflicts), isRefused: true)),
            Piece(
                description: "console, merge of an unnamed table",
                page: mergePage(preview([MergePage.Conflict(table: "funnel_events", key: "7", reason: .taken)]))),
            Piece(
                description: "console, applications",
                page: ApplicationsPage(
                    applications: [application(.pending, changes: false), application(.active, changes: true)],
                    paging: paging("/admin/applications"))),
        ]
            + MergePage.Obstacle.allCases.map { obstacle in
                Piece(
                    description: "console, merge, \(obstacle)",
                    page: mergePage(
                        .impossible(obstacle), obstacle == .alreadyUndone ? .undone(at: time) : .impossible,
                        isDone: obstacle == .alreadyUndone))
            }
            + ConsoleApplication.Status.allCases.map { status in
                Piece(
                    description: "console, application, \(status)",
                    page: ApplicationPage(
                        application: application(status, changes: status == .active), approve: form, suspend: form,
                        flags: form, enable: form, isDone: false))
            }
            + ConsoleEvent.State.allCases.map { state in
                Piece(description: "console, events, \(state)", page: outbox(state, state == .pending ? 0 : 2))
            } + [
                Piece(
                    description: "console, keys",
                    page: KeysPage(
                        keys: ConsoleKey.State.allCases.map {
                            ConsoleKey(
                                id: "0123456789abcdef", state: $0, publishedAt: time, activatedAt: time,
                                retiredAt: time,
                                publishedUntil: time)
                        })),
                Piece(
                    description: "console, audit log",
                    page: AuditLogPage(
                        user: "17", action: names.application, entries: [entry],
                        sorting: Sorting(path: "/admin/audit_log?a=b", isOldestFirst: false),
                        paging: paging("/admin/audit_log?a=b"))
                ),
            ]
    }
}
