import AccountReplies
import Accounts
import Database
import HTTP
import JSON
import Time

/// `GET /api/v1/admin/overview` (accounts §4.7): numbers of the last 30 days.
@Sendable func readOverview(_ call: Call, _ administrator: Administrator) throws -> Response {
    // Days are counted before the look is written, each in a transaction of its own.
    let overview = try call.accounts.overview(call.database)
    return try call.show("overview", to: administrator) { _ in
    } answer: { _ in
        .json(.ok, OverviewReply(overview))
    }
}

/// `GET /api/v1/admin/applications?before=&limit=` (accounts §4.7): all applications, the newest first.
@Sendable func listAllApplications(_ call: Call, _ administrator: Administrator) throws -> Response {
    let (before, limit) = (try call.before(Application.self), try call.listLimit())
    return try call.show("applications", to: administrator) { connection in
        try connection.registeredApplications(before: before, limit: limit)
    } answer: { page in
        .json(
            .ok,
            AllApplicationsReply(
                applications: page.rows.map(ApplicationReply.forAdministrators), nextCursor: page.next))
    }
}

/// `GET /api/v1/admin/webhook_outbox?state=&before=&limit=` (accounts §4.7): events of all applications by their state.
@Sendable func listOutbox(_ call: Call, _ administrator: Administrator) throws -> Response {
    let list = try call.outboxList()
    let (after, limit) = (try call.queryParameters["before"].map { try TimeCursor($0) }, try call.listLimit())
    return try call.show("webhook_outbox", to: administrator) { connection in
        try connection.outbox(list, after: after, limit: limit)
    } answer: { page in
        .json(.ok, OutboxReply(events: page.rows.map(OutboxEventReply.init), nextCursor: page.next))
    }
}

/// `GET /api/v1/admin/keys` (accounts §4.7): the keys that sign tokens, without their private parts.
@Sendable func listKeys(_ call: Call, _ administrator: Administrator) throws -> Response {
    let now = call.accounts.clock.now
    return try call.show("keys", to: administrator) { connection in
        (try connection.signingKeys(), try connection.publicKeys())
    } answer: { keys, publicKeys in
        .json(
            .ok,
            [
                "signing_keys": try keys.map { key in
                    SigningKeyReply(
                        key, at: now,
                        publicKey: try publicKeys[key.keyID].map { try JSONValue(json: Array($0.utf8)) } ?? .null)
                }
            ])
    }
}

extension Call {
    /// `state`; pending if it is absent.
    ///
    /// - Throws: `invalidRequest`.
    func outboxList() throws -> OutboxList {
        guard let text = queryParameters["state"] else { return .pending }
        guard let list = OutboxList.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else {
            throw Failure.invalidRequest
        }
        return list
    }
}

private struct OverviewReply: Encodable {
    struct Users: Encodable {
        let identified: Int
        let anonymous: Int
        let deleted: Int
        let merged: Int
    }

    struct Outbox: Encodable {
        let oldestDueSeconds: Int
        let dead: Int
        let openBreakers: Int
        let disabledEndpoints: Int
    }

    struct Day: Encodable {
        let day: String
        let newUsers: Int
        let promotions: Int
        let signIns: Int
        let refusedSignIns: Int
        let swaps: Int
        let merges: Int
        let deadEvents: Int
    }

    let users: Users
    let outbox: Outbox
    let applicationsAwaitingApproval: Int
    /// The oldest first; the last one is today.
    let days: [Day]

    init(_ overview: Overview) {
        users = Users(
            identified: overview.count(.identified), anonymous: overview.count(.anonymous),
            deleted: overview.count(.deleted), merged: overview.count(.merged))
        outbox = Outbox(
            oldestDueSeconds: overview.oldestDueSeconds, dead: overview.deadEvents,
            openBreakers: overview.openBreakers, disabledEndpoints: overview.disabledEndpoints)
        applicationsAwaitingApproval = overview.applicationsAwaitingApproval
        days = overview.days.map { day in
            Day(
                day: day.date, newUsers: day.count(.newUsers),
                promotions: day.count(.promotions), signIns: day.count(.signIns),
                refusedSignIns: day.count(.refusedSignIns), swaps: day.count(.swaps), merges: day.count(.merges),
                deadEvents: day.count(.deadEvents))
        }
    }
}

private struct AllApplicationsReply: Encodable {
    let applications: [ApplicationReply]
    @Nullable var nextCursor: String?
}

private struct OutboxReply: Encodable {
    let events: [OutboxEventReply]
    @Nullable var nextCursor: String?
}
