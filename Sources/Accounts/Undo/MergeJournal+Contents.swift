import JSON
import MariaDB

/// What a merge or swap did to the rows of the two accounts, as the journal keeps it: sealed.
struct JournalContents {
    /// Rows that went to the survivor, as they were before.
    var moved: [JournaledTable: [JournaledRow]] = [:]
    /// Rows that were deleted, as they were before, with all columns.
    var deleted: [JournaledTable: [JournaledRow]] = [:]
    /// The survivor's own values that the other one's replaced.
    var filled: [FilledValue] = []
    /// The newest of all token families: those that began since have higher ids, whatever the clocks of the instances say. 0: there
    /// was none.
    var newestFamily: TokenFamily.ID
    /// What became of the moved requests for approval in the app.
    var pushApprovals: MovedPushApprovals?

    /// Requests for approval in the app name up to two users, and are denied if they wait.
    struct MovedPushApprovals: Codable, Equatable {
        /// Whom they name instead of the absorbed user; nil: nobody.
        let named: Int64?
        let denied: Set<Int64>

        init(to named: User.ID?, denied: Set<PushApproval.ID>) {
            self.named = named?.rawValue
            self.denied = Set(denied.map(\.rawValue))
        }
    }

    /// One value of the survivor's row, before and after.
    struct FilledValue: Codable, Equatable {
        enum Column: String, Codable {
            case name
            case contactEmail = "contact_email"
            case role
        }

        let column: Column
        let before: String?
        let after: String?
    }
}

extension JournalContents.FilledValue {
    /// Those that a merge has changed.
    ///
    /// - Parameter texts: the survivor's name and contact address as they were stored: blank, or none.
    static func all(
        from before: User, _ texts: (name: String?, contactEmail: String?), to after: User
    ) -> [Self] {
        var values = [name(texts.name, after.name)].compactMap(\.self)
        if texts.contactEmail != after.contactEmail {
            values.append(Self(column: .contactEmail, before: texts.contactEmail, after: after.contactEmail))
        }
        if before.role != after.role {
            values.append(Self(column: .role, before: before.role.rawValue, after: after.role.rawValue))
        }
        return values
    }

    static func name(_ before: String?, _ after: String?) -> Self? {
        before == after ? nil : Self(column: .name, before: before, after: after)
    }
}

extension AccountsTransaction {
    func texts(of user: User.ID) throws -> (name: String?, contactEmail: String?) {
        try connection.first("SELECT name, contact_email FROM users WHERE id = ?", user) { row in
            (try row.read(String?.self), try row.read(String?.self))
        } ?? (nil, nil)
    }
}

struct JournaledRow {
    /// The primary key, its parts separated by spaces; those that are binary in hexadecimal digits.
    let key: String
    /// A JSON object of columns, the owner not among them.
    var image: String
    /// The id of the row that this one belongs to.
    var parent: Int64?
    /// The image that the merge itself left, if it changed more than the owner. It is not kept, but made of what is.
    var after: String?

    /// Of a key that is one number.
    var id: Int64? { Int64(key) }
}

extension JournalContents {
    /// The images are JSON already, and are not read here: this is done by every merge.
    func json() -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ tables: [JournaledTable: [JournaledRow]]) {
            for (number, table) in tables.enumerated() {
                bytes += "\(number == 0 ? "{" : ",")\"\(table.key.rawValue)\":".utf8
                for (number, row) in table.value.enumerated() {
                    bytes.append(UInt8(ascii: number == 0 ? "[" : ","))
                    row.append(to: &bytes)
                }
                bytes += (table.value.isEmpty ? "[]" : "]").utf8
            }
            bytes += (tables.isEmpty ? "{}" : "}").utf8
        }
        bytes += "{\"moved\":".utf8
        append(moved)
        bytes += ",\"deleted\":".utf8
        append(deleted)
        bytes += ",\"rest\":".utf8
        bytes += Rest(filled: filled, pushApprovals: pushApprovals, newestFamily: newestFamily.rawValue).json()
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private struct Rest: Codable {
        let filled: [FilledValue]
        let pushApprovals: MovedPushApprovals?
        let newestFamily: Int64
    }

    private struct WithRest: Decodable { let rest: Rest }

    /// - Parameter journal: whose contents these are.
    init(json: [UInt8], of journal: MergeJournal) throws {
        let contents = try JSONValue(json: json)
        func tables(_ name: String) -> [JournaledTable: [JournaledRow]] {
            guard case .object(let tables)? = contents[name] else { return [:] }
            let known = tables.members.compactMap { member in
                JournaledTable(rawValue: member.name).map {
                    ($0, (member.value.array ?? []).compactMap(JournaledRow.init))
                }
            }
            return Dictionary(uniqueKeysWithValues: known)
        }
        moved = tables("moved")
        deleted = tables("deleted")
        let rest = try WithRest(json: json).rest
        filled = rest.filled
        pushApprovals = rest.pushApprovals
        newestFamily = TokenFamily.ID(rawValue: rest.newestFamily)
        moved[.pushApprovals] = try moved[.pushApprovals]?.map { row in
            var row = row
            row.after = try pushApprovals?.after(row, of: journal)
            return row
        }
    }
}

extension JournalContents.MovedPushApprovals {
    /// The image that a merge or swap left.
    fileprivate func after(_ row: JournaledRow, of journal: MergeJournal) throws -> String {
        var row = row
        let isDenied = row.id.map(denied.contains) ?? false
        try row.replace { name, value in
            switch name {
            case "requested_user_id", "approved_user_id":
                value == .integer(journal.absorbed.rawValue) ? named.map(JSONValue.integer) ?? .null : value
            case "status" where isDenied: .string(PushApproval.Status.denied.rawValue)
            default: value
            }
        }
        return row.image
    }
}

extension JournaledRow {
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes += "{\"key\":".utf8
        JSONValue.string(key).append(to: &bytes)
        if let parent { bytes += ",\"parent\":\(parent)".utf8 }
        bytes += ",\"image\":".utf8
        bytes += image.utf8
        bytes.append(UInt8(ascii: "}"))
    }

    /// Nil unless it is a row as `json` writes it.
    fileprivate init?(_ value: JSONValue) {
        func text(_ name: String) -> String? { value[name].map { String(decoding: $0.json(), as: UTF8.self) } }
        guard let key = value["key"]?.string, let image = text("image") else { return nil }
        var parent: Int64?
        if case .integer(let id)? = value["parent"] { parent = id }
        self.init(key: key, image: image, parent: parent)
    }
}

extension JournaledRow {
    /// The rows' images as one JSON array, which a statement reads as a table.
    static func array(_ rows: some Sequence<JournaledRow>) -> String {
        "[" + rows.map(\.image).joined(separator: ",") + "]"
    }

    /// The image with some of its members replaced.
    mutating func replace(_ transform: (String, JSONValue) throws -> JSONValue) throws {
        guard case .object(let object) = try JSONValue(json: Array(image.utf8)) else { return }
        var failure: (any Error)?
        let replaced = object.mapValues { name, value in
            do { return try transform(name, value) } catch {
                failure = error
                return value
            }
        }
        if let failure { throw failure }
        image = String(decoding: JSONValue.object(replaced).json(), as: UTF8.self)
    }

    func value(_ name: String) throws -> JSONValue? { try JSONValue(json: Array(image.utf8))[name] }
}
