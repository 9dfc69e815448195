package import MariaDB

/// The schema of a database as SQL that makes it anew: the content of `sql/schema.sql`.
package enum SchemaText {
    /// Tables by name with their triggers by name, then views by name; without counters, months, definers and the
    /// database's name, so that equal schemas give equal text.
    package static func render(_ db: Connection) throws -> String {
        var text = """
            -- Made by `merganserctl migrate schema` from the migrations. Not to be edited, nor run by anybody but tests.

            SET FOREIGN_KEY_CHECKS = 0;

            """
        for table in try names(db, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'") {
            let sql = try definition(db, "SHOW CREATE TABLE \(quoted(table))", column: 1)
            text += "\n" + withoutMonths(withoutCounter(sql)) + ";\n"
            let triggers = try names(
                db,
                """
                SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
                WHERE TRIGGER_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = \(literal(table))
                """)
            for trigger in triggers {
                let sql = try definition(db, "SHOW CREATE TRIGGER \(quoted(trigger))", column: 2)
                text += "\n" + withoutDefiner(sql) + ";\n"
            }
        }
        let database = try names(db, "SELECT DATABASE()")[0]
        for view in try names(db, "SHOW FULL TABLES WHERE Table_type = 'VIEW'") {
            let sql = try definition(db, "SHOW CREATE VIEW \(quoted(view))", column: 1)
            text += "\n" + withoutDefiner(sql).replacing("`\(database)`.", with: "") + ";\n"
        }
        return text + "\nSET FOREIGN_KEY_CHECKS = 1;\n"
    }

    private static func names(_ db: Connection, _ sql: String) throws -> [String] {
        try db.query(sql).map { String(decoding: $0[0] ?? [], as: UTF8.self) }.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }

    private static func definition(_ db: Connection, _ sql: String, column: Int) throws -> String {
        String(decoding: try db.query(sql)[0][column] ?? [], as: UTF8.self)
    }

    private static func withoutCounter(_ sql: String) -> String { sql.replacing(#/ AUTO_INCREMENT=[0-9]+/#, with: "") }

    /// Without the partitions that time brings and takes away; the open-ended one stays.
    private static func withoutMonths(_ sql: String) -> String {
        sql.replacing(#/PARTITION `p[0-9]{6}` VALUES LESS THAN \('[^']*'\) ENGINE = InnoDB,\s*/#, with: "")
    }

    private static func withoutDefiner(_ sql: String) -> String {
        sql.replacing(#/ DEFINER=`[^`]*`@`[^`]*`/#, with: "").replacing(" SQL SECURITY DEFINER", with: "")
    }

    private static func quoted(_ name: String) -> String { "`" + name.replacing("`", with: "``") + "`" }

    private static func literal(_ name: String) -> String { "'" + name.replacing("'", with: "''") + "'" }
}
