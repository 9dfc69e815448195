import Accounts
import HTTP
import JSON
import TestSupport
import Testing

/// What projects whose users are the accounts' keep about an account is in its export (accounts §4.8).
@Suite struct RecordExportTests {
    let app: TestApp
    let scene: AnalyticsScene
    let accounts: SwapScene
    let client: Client
    let member: Member
    /// As projects name it.
    let user: String

    init() throws {
        // Rows are counted here. How long they take says more about the machine.
        let bound = ExportBound(bytes: ExportBound.standard.bytes, time: .seconds(600))
        app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, exportBound: bound))
        scene = try AnalyticsScene(app)
        accounts = try SwapScene(app)
        client = app.client()
        member = try accounts.member()
        user = "\(member.id)"
        try app.change("UPDATE projects SET accounts = TRUE")
        try app.change("UPDATE paks SET scopes = CONCAT(scopes, ' login_history:read')")
    }

    private static let sections = [
        "records", "record_apps", "record_claims", "feedback", "questionnaire_responses", "attachments", "events",
        "metric_events", "funnel_events", "issue_occurrences",
    ]

    private func export() throws -> Answer {
        let answer = try client.send(.get, "/api/v1/me/export", token: member.token).received()
        try #require(answer.status == 200, "\(answer)")
        return answer
    }

    private func texts(_ name: String, in rows: JSONValue?) throws -> [String] {
        try #require(rows?.array).map { $0[name]?.string ?? "-" }
    }

    private func report(_ message: String, of user: String) {
        #expect(client.send(scene.ingest([scene.event(message, of: user)])).status == 200)
    }

    // MARK: What is in it

    @Test func everythingIsThere() throws {
        try scene.furnish(user, client)
        let answer = try export()
        func first(_ section: String) -> JSONValue? { answer[section]?.array?.first }
        for section in Self.sections { #expect(first(section) != nil, "\(section)") }
        let properties: JSONValue = ["plan": .string("plan of \(user)")]
        #expect(first("records")?["properties"] == properties)
        #expect(first("records")?["user_id"] == .string(user))
        #expect(first("records")?["merged_into"] == .null)
        #expect(first("record_apps")?["app_id"] == .string("\(scene.appID)"))
        #expect(first("record_claims")?["anonymous_id"] == .string("owl_anon_of_\(user)"))
        #expect(first("feedback")?["message"] == .string("feedback of \(user)"))
        #expect(first("feedback")?["submitter_name"] == .string("name of \(user)"))
        #expect(first("feedback")?["submitter_email"] == "somebody@example.com")
        let answers: JSONValue = ["words": .string("answer of \(user)")]
        #expect(first("questionnaire_responses")?["answers"] == answers)
        #expect(first("attachments")?["original_filename"] == .string("file-of-\(user).txt"))
        #expect(first("attachments")?["size_bytes"] == 5)
        #expect(first("attachments")?["sha256"] == nil)
        #expect(try texts("message", in: answer["events"]).sorted() == ["event 1", "event of \(user)"])
        #expect(answer["metric_events"]?.array?.count == 2 && answer["funnel_events"]?.array?.count == 2)
    }

    @Test func nothingElseIsInIt() throws {
        let other = try accounts.member()
        let outside = try AnalyticsScene(app, team: scene.team)
        for project in [scene, outside] {
            for id in [user, "\(other.id)", "somebody"] { try project.furnish(id, client) }
        }
        let text = try export().text
        #expect(text.contains("feedback of \(user)"))
        for name in ["\(other.id)", "somebody"] { #expect(!text.contains("of \(name)")) }
        for id in [outside.project, outside.appID] { #expect(!text.contains("\(id)")) }
    }

    @Test func whoIsUnknownToProjectsHasEmptyArrays() throws {
        try scene.furnish("somebody", client)
        let answer = try export()
        for section in Self.sections { #expect(answer[section] == .array([]), "\(section)") }
    }

    /// Of anonymous ids and of absorbed accounts, before compaction rewrites what names them.
    @Test func tombstonesAreFollowed() throws {
        let absorbed = try accounts.member()
        report("own", of: user)
        report("anonymous", of: "owl_anon_phone")
        report("absorbed", of: "\(absorbed.id)")
        #expect(client.send(scene.claim("owl_anon_phone", .string(user))).status == 200)
        #expect(try accounts.merge(absorbed.id, into: member).status == 200)
        let answer = try export()
        #expect(try texts("message", in: answer["events"]).sorted() == ["absorbed", "anonymous", "own"])
        let records = try #require(answer["records"]?.array)
        #expect(try Set(texts("user_id", in: answer["records"])) == [user, "owl_anon_phone", "\(absorbed.id)"])
        let own = try #require(records.first { $0["user_id"] == .string(user) })
        for record in records where record != own { #expect(record["merged_into"] == own["id"]) }
    }

    /// The project took no part when the account was absorbed.
    @Test func recordsOfAbsorbedAccountsAreInIt() throws {
        let absorbed = try accounts.member()
        report("absorbed", of: "\(absorbed.id)")
        try app.absorb(absorbed.id, into: member.id)
        #expect(try texts("message", in: export()["events"]) == ["absorbed"])
    }

    /// A deleted row is frozen under the anonymous id when that is claimed (analytics §5).
    @Test func deletedRowsOfAClaimedIDAreInIt() throws {
        let id: JSONValue = "owl_anon_phone"
        #expect(client.send(scene.feedback(["user_id": id, "submitter_name": "Bea"])).status == 201)
        try app.change("UPDATE feedback SET deleted_at = created_at")
        #expect(client.send(scene.claim(id, .string(user))).status == 200)
        let feedback = try export()["feedback"]?.array
        #expect(feedback?.count == 1)
        #expect(feedback?.first?["frozen_user_id"] == id && feedback?.first?["submitter_name"] == "Bea")
        // Now it may be of either.
        #expect(client.send(scene.claim(id, "somebody")).status == 200)
        #expect(try export()["feedback"] == .array([]))
    }

    /// Until clean-up removes the rows.
    @Test func deletedAttachmentsAreInIt() throws {
        let ids = try (0..<3).map { number in
            try scene.reserve(client, [1], ["user_id": .string(user), "client_event_id": .string(uuid(number))])
        }
        try app.change(
            "UPDATE event_attachments SET deleted_at = created_at WHERE id <> UNHEX(REPLACE(?, '-', ''))", ids[0])
        let attachments = try export()["attachments"]
        #expect(try texts("id", in: attachments).first == ids[0])
        #expect(try texts("id", in: attachments).sorted() == ids.sorted())
        #expect(try texts("deleted_at", in: attachments).map { $0 == "-" } == [true, false, false])
    }

    // MARK: Pages

    /// Page by page, each row once; also those of one time.
    @Test(arguments: [99, 100, 101, 250], [false, true]) func longHistoriesAreWhole(count: Int, atOnce: Bool) throws {
        #expect(client.send(scene.properties(.string(user), ["plan": "pro"])).status == 200)
        try scene.store(count, of: user, from: app.time.now)
        if atOnce {
            try app.change("UPDATE events SET timestamp = ?", app.time.now)
            try app.change("UPDATE metric_events SET timestamp = ?", app.time.now)
            try app.change("UPDATE funnel_events SET timestamp = ?", app.time.now)
        }
        let answer = try export()
        for section in ["events", "metric_events", "funnel_events"] {
            let ids = try texts("id", in: answer[section])
            #expect(ids.count == count && Set(ids).count == count, "\(section)")
        }
        if !atOnce {
            for section in ["events", "funnel_events"] {
                #expect(try texts("message", in: answer[section]) == (1...count).map { "event \($0)" }, "\(section)")
            }
        }
    }

    @Test func largeEventsAreReadFewAtATime() throws {
        #expect(client.send(scene.properties(.string(user), ["plan": "pro"])).status == 200)
        try scene.store(11, of: user, from: app.time.now, copies: false)
        try app.change("UPDATE events SET message = CONCAT(message, ' ', REPEAT('x', 1000000))")
        let messages = try texts("message", in: export()["events"])
        #expect(messages.map { text in String(text.prefix { $0 != "x" }) } == (1...11).map { "event \($0) " })
    }

    /// Each page is a range of an index: what is read grows with the rows of the export, not with their square, and not
    /// with the rows of others.
    @Test func aRowIsReadAFewTimes() throws {
        let meter = try ReadMeter(app)
        let count = 10_000
        for (id, count) in [(user, count), ("somebody", 3 * count)] {
            #expect(client.send(scene.properties(.string(id), ["plan": "pro"])).status == 200)
            try scene.store(count, of: id, from: app.time.now)
        }
        let (answer, cost) = try meter.measure { $0.send(.get, "/api/v1/me/export", token: member.token) }
        #expect(answer.status == 200)
        #expect(cost.rowsRead < 8 * 3 * count, "\(cost.rowsRead)")
        let scans = cost.plan.filter { $0.table == "t" && ["ALL", "index"].contains($0.type) }
        #expect(scans.isEmpty, "\(scans)")
    }
}
