import Accounts
import Database
import HTTP
import MariaDB
import Text

extension Call {
    /// Answers an administrator who looks at something, and writes that to the audit log first: nothing is shown without
    /// a trace. The closure reads from one snapshot.
    ///
    /// - Parameters:
    ///   - resource: the part of the console.
    ///   - id: of the one thing that they look at; nil: a list, or a user.
    ///   - user: whom they look at; nil: nobody in particular.
    func show<Shown>(
        _ resource: String, id: String? = nil, of user: User.ID? = nil, to administrator: Administrator,
        _ read: (Connection) throws -> Shown, answer: (Shown) throws -> Response
    ) throws -> Response {
        let shown = try database.snapshot(read)
        return try commit { transaction in
            try transaction.noteLook(at: resource, id: id, user, by: administrator)
            return try answer(shown)
        }
    }

    /// `limit` of a list for administrators: 50, at most 200.
    ///
    /// - Throws: `invalidRequest`.
    func listLimit() throws -> Int {
        min(try queryParameters.pageLimit() ?? ListLimit.usual, ListLimit.largest)
    }

    /// `before`, the last row of the page before.
    ///
    /// - Throws: `invalidCursor`.
    func before<Row>(_: Row.Type = Row.self) throws -> Identifier<Row>? {
        try queryParameters["before"].map { try Identifier<Row>(cursor: $0) }
    }

    /// `order`, with which rows a list begins: the newest unless it says `oldest`.
    ///
    /// - Throws: `invalidRequest`.
    func listOrder() throws -> ListOrder {
        guard let text = queryParameters["order"] else { return .newest }
        guard let order = ListOrder(rawValue: text) else { throw Failure.invalidRequest }
        return order
    }

    /// An id that filters a list.
    ///
    /// - Throws: `invalidRequest` for what is no id.
    func filter<Row>(_ name: String, _: Row.Type = Row.self) throws -> Identifier<Row>? {
        guard let text = queryParameters[name], !text.isEmpty else { return nil }
        guard let id = try? Identifier<Row>(cursor: text) else { throw Failure.invalidRequest }
        return id
    }

    /// The id in the path.
    ///
    /// - Throws: `notFound` for what is no id.
    func identifier<Row>(_: Row.Type = Row.self) throws -> Identifier<Row> {
        guard let id = try? Identifier<Row>(cursor: arguments[0]) else { throw Failure.notFound }
        return id
    }

    /// `before` in a list of merges.
    ///
    /// - Throws: `invalidCursor`.
    func mergeBefore() throws -> MergeID? { try queryParameters["before"].map { try MergeID(cursor: $0) } }

    /// The merge or swap in the path.
    ///
    /// - Throws: `notFound` for what is no id.
    func mergeID() throws -> MergeID {
        guard let id = MergeID(text: arguments[0]) else { throw Failure.notFound }
        return id
    }

    /// What somebody is searched by; nil if nothing was typed.
    var searched: String? {
        let query = queryParameters.comparable("query")?.trimmed ?? ""
        return query.isEmpty ? nil : query
    }
}

/// How many rows a page of a list for administrators has.
enum ListLimit {
    static let usual = 50
    static let largest = 200
    /// Of each kind of thing on a person's page.
    static let onOnePage = 20
}
