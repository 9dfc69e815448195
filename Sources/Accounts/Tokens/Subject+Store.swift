import JSON
package import MariaDB
import Text
import Time

extension Connection {
    /// Reads the subject of a grant in one statement, unless its user has merged accounts. Nil if the grant is gone or revoked,
    /// its application is not active, or its user is deleted.
    package func subject(of grant: Grant.ID) throws -> Subject? {
        try subjectAndClient(of: grant)?.subject
    }

    /// The same, with the client that the grant was given to.
    func subjectAndClient(of grant: Grant.ID) throws -> (subject: Subject, client: GrantedClient)? {
        let usual = try first(Self.selectUsual.with(grant)) { row in
            (
                subject: try UsualSubject(from: &row), client: try GrantedClient(from: &row),
                isLive: try row.read(Bool.self)
            )
        }
        guard let usual, usual.isLive else { return nil }
        if let subject = usual.subject.whole { return (subject, usual.client) }
        return try mergedSubject(of: grant).map { ($0, usual.client) }
    }

    /// What must be true is a column, as in `accessToken`.
    private static let selectUsual = ComposedSQL(
        select: Subject.ownColumns, UsualSubject.marks, GrantedClient.columns,
        "g.revoked_at IS NULL AND a.status = 'active' AND (u.deleted_at IS NULL OR u.has_merges)",
        from: """
            grants g JOIN applications a ON a.id = g.application_id JOIN users u ON u.id = g.user_id
            LEFT JOIN application_faults d ON d.application_id = a.id AND d.fault = 'scope_dropped'
            WHERE g.id = ?
            """)

    func mergedSubject(of grant: Grant.ID) throws -> Subject? {
        var sql = ComposedSQL(select: Subject.ownColumns, Subject.mergeColumns, from: "grants g ")
        sql.append(Subject.joins)
        sql.append(
            " WHERE g.id = ? AND g.revoked_at IS NULL AND a.status = 'active' AND u.deleted_at IS NULL", grant)
        return try first(sql) { row in try Subject(from: &row) }
    }
}

/// What a statement without subqueries reads of a grant's subject. It joins the grant's own user: if that user has merged
/// accounts, it need not even be the canonical one.
struct UsualSubject {
    private let own: Subject
    private let hasMerges: Bool

    /// What `init(from:)` reads of the user `u`, after `Subject.ownColumns`.
    static let marks: StaticString = "u.previously_anonymous, u.has_merges"

    /// Nil if it does not say everything. Without merges a sub is that of its own user.
    var whole: Subject? { hasMerges || !own.isCanonical ? nil : own }

    init(from row: inout Row) throws {
        var own = try Subject(own: &row)
        own.previouslyAnonymous = try row.read(Bool.self) && !own.anonymous
        self.own = own
        hasMerges = try row.read()
    }
}

extension Subject {
    /// The columns that `init(own:)` reads, of a grant `g`, its application `a` and a user `u`.
    static let ownColumns: StaticString = """
        g.sub, u.id, u.anonymous, u.name, u.nickname, u.contact_email, u.verified_addresses, u.phone_number, u.address,
        u.postal_code, u.verified_level, u.custom_claims, a.linked_sub_details, u.last_active_at,
        g.last_used_at
        """

    /// With `ownColumns`, the columns that `init(from:)` reads, of a grant `g` with `joins`. For nearly everyone the last two
    /// are empty, and looking for them costs more than all the rest: see `UsualSubject`.
    static let mergeColumns: StaticString = """
        NOT u.anonymous AND (
            EXISTS (SELECT 1 FROM users was WHERE was.id = CAST(g.sub AS UNSIGNED)
                    AND (was.anonymous OR was.previously_anonymous))
            OR EXISTS (SELECT 1 FROM absorbed_subs was WHERE was.application_id = g.application_id
                       AND was.sub = g.sub AND was.was_anonymous)),
        (SELECT JSON_ARRAYAGG(JSON_ARRAY(CAST(m.linked_user_id AS CHAR), m.merged_via,
                    CAST(UNIX_TIMESTAMP(m.created_at) * 1000 AS INTEGER),
                    IF(a.linked_sub_details, (SELECT e.event_id FROM identity_link_events e
                       WHERE e.identity_link_id = m.id AND e.application_id = a.id), NULL)))
         FROM identity_links m WHERE m.primary_user_id = u.id),
        (SELECT JSON_ARRAYAGG(JSON_ARRAY(s.sub, s.via,
                    CAST(UNIX_TIMESTAMP(s.occurred_at) * 1000 AS INTEGER), s.source_event_id))
         FROM absorbed_subs s WHERE s.canonical_user_id = u.id AND s.application_id = g.application_id)
        """

    /// Joins the application and the canonical user of `g`, which may be any row with the columns of a grant.
    static let joins: StaticString = """
        JOIN applications a ON a.id = g.application_id
        LEFT JOIN identity_links l ON l.linked_user_id = g.user_id
        JOIN users u ON u.id = COALESCE(l.primary_user_id, g.user_id)
        """

    init(from row: inout Row) throws {
        self = try Subject(own: &row)
        previouslyAnonymous = try row.read()
        linkedSubs = Self.merge(
            try Self.linkedSubs(try row.read()), try Self.linkedSubs(try row.read()), except: canonicalSub)
    }

    /// Without merges.
    fileprivate init(own row: inout Row) throws {
        sub = try row.read()
        canonical = try row.read()
        anonymous = try row.read()
        name = try row.read()
        nickname = try row.read()
        email = EmailAddress.present(try row.read())
        let verifiedAddresses = try Self.addresses(row.read())
        phoneNumber = try row.read()
        address = try row.read()
        postalCode = try row.read()
        verifiedLevel = try row.read()
        customClaims = try row.read(String?.self).flatMap { try? JSONValue(json: Array($0.utf8)) }
        withDetails = try row.read()
        lastActiveAt = try row.read()
        lastUsedAt = try row.read()
        emailVerified = false
        previouslyAnonymous = false
        linkedSubs = []
        settleEmail(verifiedBy: verifiedAddresses)
    }

    /// Decides what the user's address is worth. Addresses are compared here, because SQL's LOWER folds more than ASCII.
    private mutating func settleEmail(verifiedBy addresses: [String]) {
        emailVerified =
            email.map(FoldedAddress.init(_:)).map { email in
                addresses.contains { FoldedAddress($0) == email }
            } ?? false
        if email.isBlank { email = nil }
        verifiedLevel = max(verifiedLevel, phoneNumber.isBlank ? 0 : 2, emailVerified && email != nil ? 1 : 0)
    }

    /// - Parameter json: an array of addresses.
    private static func addresses(_ json: String?) -> [String] {
        json.flatMap { try? JSONValue(json: Array($0.utf8)) }?.array?.compactMap(\.string) ?? []
    }

    /// - Parameter json: an array of [sub, via, milliseconds, event id].
    private static func linkedSubs(_ json: String?) throws -> [LinkedSub] {
        guard let json else { return [] }
        return try JSONValue(json: Array(json.utf8)).array?.compactMap { row in
            guard let row = row.array, row.count == 4, let sub = row[0].string, let via = row[1].string,
                case .integer(let milliseconds) = row[2]
            else { return nil }
            return LinkedSub(
                sub: sub, mergedVia: via, occurredAt: Timestamp(milliseconds: milliseconds),
                sourceEventID: row[3].string)
        } ?? []
    }

    /// Each sub once. If a sub is in both lists, the absorbed one counts, because the application was told about it.
    private static func merge(_ merged: [LinkedSub], _ absorbed: [LinkedSub], except canonical: String) -> [LinkedSub] {
        Dictionary((absorbed + merged).map { ($0.sub, $0) }, uniquingKeysWith: { first, _ in first })
            .values.filter { $0.sub != canonical }
            .sorted { ($0.sub.utf8.count, $0.sub) < ($1.sub.utf8.count, $1.sub) }
    }
}
