import Foundation
import JSON
import MariaDB
import TestSupport
import Testing

/// A request's id leads from nginx's log to the statement that made the request slow.
@Suite struct SlowStatementTests {
    @Test func theRequestIDLeadsFromTheAccessLogToTheStatement() throws {
        let front = try Front()
        let installation = try Installation([
            "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_SLOW_STATEMENT_MILLISECONDS": "400",
        ])
        let server = try installation.readyServer()
        let connection = try front.connect()
        let device = #"{"device_uuid":"00000000-0000-0000-0000-000000000006","platform":"ios"}"#
        let phone = try JSONValue(json: connection.ask("POST", "/api/v1/devices", body: Array(device.utf8)).body)
        let pak = try #require(phone["access_token"]?.string)
        let watcher = try installation.database.connect()
        let holder = try installation.database.connect()
        try holder.begin()
        _ = try holder.all("SELECT id FROM users FOR UPDATE") { row in try row.read(Int.self) }

        let body = Array(#"{"nickname":"Sesame"}"#.utf8)
        let headers = "Host: localhost\r\nAuthorization: Bearer \(pak)\r\nContent-Length: \(body.count)\r\n"
        try connection.send(Array("PATCH /api/v1/me?q=sesame HTTP/1.1\r\n\(headers)\r\n".utf8) + body)
        try server.wait(for: "the request to wait for its lock for half a second") {
            try watcher.first(
                """
                SELECT COUNT(*) FROM information_schema.processlist
                WHERE db = DATABASE() AND info LIKE '%FROM users u %FOR UPDATE' AND time_ms > 500
                """
            ) { row in try row.read(Int.self) } == 1
        }
        try holder.commit()
        let answer = try connection.receiveAnswer()
        #expect(answer.status == 200)
        let requestID = try #require(answer.header("x-request-id"))

        try front.stop()
        let access = try front.accessLog.split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) }
        let line = try #require(access.first { $0["request_id"]?.string == requestID })
        #expect(line["path"]?.string == "/api/v1/me")

        let log = try server.log.filter { $0["request_id"]?.string == requestID }
        let statement = try #require(log.first { $0["message"]?.string == "slow statement" })
        let sql = try #require(statement["sql"]?.string)
        #expect(sql.hasPrefix("SELECT "))
        #expect(sql.hasSuffix("WHERE u.id IN (?, ?) ORDER BY u.id FOR UPDATE"))
        guard case .integer(400...) = statement["milliseconds"], case .integer = statement["connection"] else {
            throw TestSupportError("\(statement)")
        }
        let transaction = try #require(log.first { $0["message"]?.string == "slow transaction" })
        #expect(transaction["outcome"]?.string == "committed")
        for secret in [pak, "Sesame", "sesame"] { #expect(!server.errorOutput.contains(secret)) }
    }
}
