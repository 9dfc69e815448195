import Accounts
import Database
import HTTP
import JSON
import Time

/// `GET /oauth/subs/{sub}` (accounts §2.9): the user that one of the application's subs stands for today.
@Sendable func showSub(_ call: Call, _ application: Application) throws -> Response {
    let subject = try call.database.read {
        try call.accounts.subject(knownAs: call.arguments[0], at: application, $0)
    }
    return .json(.ok, SubReply(subject))
}

private struct SubReply: Encodable {
    let sub: String
    let canonicalSub: String
    let isCanonical: Bool
    let linkedSubs: [String]
    @Nullable var mergedVia: String?
    @Nullable var occurredAt: String?

    init(_ subject: Subject) {
        sub = subject.sub
        canonicalSub = subject.canonicalSub
        isCanonical = subject.isCanonical
        linkedSubs = subject.linkedSubs.map(\.sub)
        let link = subject.linkedSubs.first { $0.sub.utf8.elementsEqual(subject.sub.utf8) }
        mergedVia = link?.mergedVia
        occurredAt = link?.occurredAt.iso8601
    }
}
