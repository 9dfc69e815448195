import FoundationEssentials
import OpenSSL

/// One numbered migration of the schema, the file `NNNN_what.sql`. Migrations only go forward.
///
/// This target owns the files' form, the table `schema_migrations`, the order and resumption of migrations, and the
/// check that a running server makes. It does not own the tables that migrations create.
package struct Migration: Sendable {
    /// Numbers begin at 1 and have no gaps.
    package let number: Int
    /// The part `what` of the file's name.
    package let name: String
    package let sql: String
    /// The statements in order, each without its final `;`.
    package let statements: [String]
    /// The SHA-256 digest of the file.
    package let digest: [UInt8]
    /// The oldest binary that works with the schema after this migration, by the number of the binary's newest
    /// migration. A line `-- compatible-since: N` sets it; the default is the previous migration.
    package let compatibleSince: Int

    package var fileName: String { fourDigits(number) + "_\(name).sql" }

    package init(number: Int, name: String, sql: String) throws(MigrationError) {
        self.number = number
        self.name = name
        self.sql = sql
        statements = Script.statements(of: sql)
        digest = sha256(sql.utf8)
        let header = "-- compatible-since:"
        guard let line = sql.split(separator: "\n").first(where: { $0.hasPrefix(header) }) else {
            compatibleSince = number - 1
            return
        }
        guard let since = Int(line.dropFirst(header.count).drop { $0 == " " }), (0...number).contains(since) else {
            throw .invalidFile(
                fourDigits(number) + "_\(name).sql", "\"\(line)\" must name a number from 0 to \(number)")
        }
        compatibleSince = since
    }
}

extension Migration {
    /// Every `NNNN_what.sql` of a folder, in order. Other files, such as `schema.sql`, are ignored.
    package static func load(directory: String) throws(MigrationError) -> [Migration] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .unreadable(directory)
        }
        var migrations: [Migration] = []
        for name in names.sorted() {
            guard let file = name.wholeMatch(of: /([0-9]{4})_([a-z0-9_]+)\.sql/), let number = Int(file.1) else {
                guard name.first?.isNumber != true else {
                    throw .invalidFile(name, "a migration is named like 0007_what.sql, in lower-case letters")
                }
                continue
            }
            guard number == migrations.count + 1 else {
                throw .invalidFile(name, "the next number is \(fourDigits(migrations.count + 1))")
            }
            guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)"),
                let sql = String(validating: data, as: UTF8.self)
            else { throw .unreadable("\(directory)/\(name)") }
            migrations.append(try Migration(number: number, name: String(file.2), sql: sql))
        }
        guard !migrations.isEmpty else { throw .unreadable("\(directory)/0001_….sql") }
        return migrations
    }
}

func fourDigits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
