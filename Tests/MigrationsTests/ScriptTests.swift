import Foundation
import TestSupport
import Testing

@testable import Migrations

struct ScriptTests {
    @Test(
        arguments: [
            ("", []), ("\n\n-- nothing\n/* at all;\n */\n", []), ("SELECT 1", ["SELECT 1"]),
            ("SELECT 1;\n", ["SELECT 1"]),
            ("SELECT 1;\r\nSELECT 2;\r\n", ["SELECT 1", "SELECT 2"]),
            ("-- A header.\n\nSELECT 1; \t\n\n-- Another.\nSELECT\n  2;", ["SELECT 1", "SELECT\n  2"]),
            ("SELECT 1; -- why;\nSELECT 2; # how;\n", ["SELECT 1; -- why", "SELECT 2; # how"]),
            ("SELECT 1 -- not yet;\n, 2;", ["SELECT 1 -- not yet;\n, 2"]),
            ("SELECT 1--1;\nSELECT 2;", ["SELECT 1--1", "SELECT 2"]),
            ("SELECT /* not; yet;\n */ 1;", ["SELECT /* not; yet;\n */ 1"]),
            ("SELECT 'a;\nb';\nSELECT 2;", ["SELECT 'a;\nb'", "SELECT 2"]),
            ("SELECT 'it''s;\n', \"x;\n\", `y;\n`;", ["SELECT 'it''s;\n', \"x;\n\", `y;\n`"]),
            ("SELECT 'a\\';\n';\nSELECT 2;", ["SELECT 'a\\';\n'", "SELECT 2"]),
            ("SELECT `a\\`;\nSELECT 2;", ["SELECT `a\\`", "SELECT 2"]),
            ("SELECT '-- no';\nSELECT '/*';\nSELECT 3;", ["SELECT '-- no'", "SELECT '/*'", "SELECT 3"]),
            ("SELECT 1; SELECT 2;\nSELECT 3;", ["SELECT 1; SELECT 2", "SELECT 3"]),
            (
                "CREATE TRIGGER x\nBEGIN\n    SET a = 1;\n    BEGIN\n        SET b = 2;\n    END;\nEND;\nSELECT 1;",
                ["CREATE TRIGGER x\nBEGIN\n    SET a = 1;\n    BEGIN\n        SET b = 2;\n    END;\nEND", "SELECT 1"]
            ),
            (
                "BEGIN NOT ATOMIC\n    SET a = 1;\n    SET b = 2;\nEND;\nSELECT 1;",
                ["BEGIN NOT ATOMIC\n    SET a = 1;\n    SET b = 2;\nEND", "SELECT 1"]
            ),
            ("SELECT '\nBEGIN\n';\nSELECT 2;", ["SELECT '\nBEGIN\n'", "SELECT 2"]),
        ] as [(String, [String])])
    func statements(_ sql: String, _ expected: [String]) {
        #expect(Script.statements(of: sql) == expected)
    }

    @Test func theRealFiles() throws {
        for migration in try Migration.load(directory: TestDatabase.sqlDirectory) {
            #expect(!migration.statements.isEmpty)
            for statement in migration.statements {
                #expect(
                    statement.contains(#/^(CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|RENAME|BEGIN NOT ATOMIC)\s/#),
                    "\(migration.fileName)")
            }
        }
    }
}
