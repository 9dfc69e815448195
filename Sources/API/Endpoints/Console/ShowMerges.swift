import Accounts
import Database
import HTTP
import Pages

/// `GET /admin/merges?user_id=&order=&before=` (accounts §4.7).
@Sendable func showMerges(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (user, before) = (try call.filter("user_id", User.self), try call.before(IdentityLink.self))
    let order = try call.listOrder()
    return try call.show("merges", of: user, to: console.administrator) { connection in
        try connection.merges(of: user, after: before, order, limit: ListLimit.usual)
    } answer: { page in
        let text = user.map { String($0.rawValue) } ?? ""
        let path = "\(ConsoleSection.merges.path)?user_id=\(text)"
        let sorting = Sorting(path: path, isOldestFirst: order == .oldest)
        return .page(
            MergesPage(
                user: text, merges: page.rows.map(ConsoleMerge.init),
                sorting: sorting,
                paging: Paging(path: sorting.firstPage, isFirst: before == nil, cursor: page.next)),
            in: call.language)
    }
}

/// `GET /admin/merges/{id}`: a merge, and both accounts as they are now.
@Sendable func showMerge(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let id = try call.identifier(IdentityLink.self)
    return try call.show("merges", id: "\(id.rawValue)", to: console.administrator) { connection in
        try connection.mergeWithUsers(id)
    } answer: { found in
        guard let found else { throw Failure.notFound }
        let accounts = [found.primary, found.linked].compactMap { $0 }.map(ConsoleUser.init)
        return .page(MergePage(merge: ConsoleMerge(found.merge), accounts: accounts), in: call.language)
    }
}

extension ConsoleMerge {
    fileprivate init(_ merge: ListedMerge) {
        self.init(
            id: String(merge.id.rawValue), survivor: String(merge.primary.rawValue),
            absorbed: String(merge.linked.rawValue), via: merge.mergedVia, at: merge.createdAt)
    }
}
