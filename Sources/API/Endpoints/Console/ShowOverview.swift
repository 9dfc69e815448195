import Accounts
import Database
import HTTP
import Pages
import Time

/// `GET /admin` (accounts §4.7): the front page.
@Sendable func showOverview(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let overview = try call.accounts.overview(call.database)
    return try call.show("overview", to: console.administrator) { _ in
    } answer: { _ in
        .page(OverviewPage(overview), in: call.language)
    }
}

/// `GET /admin/keys`: the keys that sign tokens.
@Sendable func showKeys(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let now = call.accounts.clock.now
    return try call.show("keys", to: console.administrator) { connection in
        try connection.signingKeys()
    } answer: { keys in
        .page(KeysPage(keys: keys.map { ConsoleKey($0, at: now) }), in: call.language)
    }
}

extension OverviewPage {
    fileprivate init(_ overview: Overview) {
        func days(_ name: DailyCount) -> [Int] { overview.days.map { $0.count(name) } }
        self.init(
            users: Users(
                identified: overview.count(.identified), anonymous: overview.count(.anonymous),
                deleted: overview.count(.deleted), merged: overview.count(.merged)),
            outbox: Outbox(
                oldestDue: overview.oldestDueSeconds, dead: overview.deadEvents,
                mayHaveMoreDead: overview.deadEvents >= Overview.countedRows,
                openBreakers: overview.openBreakers, disabledEndpoints: overview.disabledEndpoints),
            applicationsAwaitingApproval: overview.applicationsAwaitingApproval,
            days: overview.days.map(\.date),
            counts: [
                .newUsers: days(.newUsers), .promotions: days(.promotions), .signIns: days(.signIns),
                .refusedSignIns: days(.refusedSignIns), .swaps: days(.swaps), .merges: days(.merges),
                .deadEvents: days(.deadEvents),
            ])
    }
}

extension ConsoleKey {
    fileprivate init(_ key: SigningKey, at now: Timestamp) {
        let state: State =
            switch key.state(at: now) {
            case .next: .next
            case .active: .active
            case .retired: .retired
            case .removed: .removed
            }
        self.init(
            id: key.keyID, state: state, publishedAt: key.publishedAt, activatedAt: key.activatedAt,
            retiredAt: key.retiredAt, publishedUntil: key.publishedUntil)
    }
}
