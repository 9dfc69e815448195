import Analytics
import Database
import JSON
import MariaDB
import TestSupport
import Text
import Time

/// Two projects in which two accounts, `absorbed` and `survivor`, have generated records.
final class RecordWorld {
    static let absorbed = EndUserID(rawValue: "101")
    static let survivor = EndUserID(rawValue: "102")
    /// Somebody else, who has a record in each project.
    static let other = EndUserID(rawValue: "103")
    /// What the survivor's devices have kept, and the merge claims.
    static let kept = (0..<3).map { EndUserID(rawValue: "owl_anon_kept\($0)") }

    let app: TestApp
    let scenes: [AnalyticsScene]
    let database: Database
    let db: Connection
    private(set) var random: SplitMix64
    /// The apps of each project.
    private var apps: [UUID: [UUID]] = [:]
    private var questionnaires: [UUID: [(id: UUID, slug: String)]] = [:]

    init(_ app: TestApp, seed: UInt64) throws {
        self.app = app
        random = SplitMix64(state: seed)
        let first = try AnalyticsScene(app)
        scenes = [first, try AnalyticsScene(app, team: first.team, bundleID: "com.example.second")]
        database = try first.database()
        db = try app.database.connect()
        try app.change("UPDATE projects SET accounts = TRUE")
        for scene in scenes {
            apps[scene.project] = [scene.appID] + (try (0..<2).map { _ in try scene.makeApp().id })
            questionnaires[scene.project] = try (0..<3).map { number in
                (try scene.makeQuestionnaire("q\(number)"), "q\(number)")
            }
        }
    }

    // MARK: Chance

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    func any<T>(of values: [T]) -> T? { values.randomElement(using: &random) }

    /// Within two months before now.
    private func past() -> Timestamp { app.time.now - .milliseconds(number(1...5_000_000_000)) }

    // MARK: Rows

    /// Forgets all users, and makes others.
    func renew() throws {
        for table in Self.tables.reversed() where !["projects", "questionnaires"].contains(table.name) {
            try db.executeScript("UPDATE app_users SET merged_into = NULL; DELETE FROM \(table.name)")
        }
        for scene in scenes { try people(of: scene) }
    }

    private func people(of scene: AnalyticsScene) throws {
        try db.execute(
            "UPDATE projects SET claim_conflict = ? WHERE id = ?", chance(70) ? "latest" : "refuse", scene.project)
        let other = try record(Self.other, in: scene)
        let absorbed = chance(85) ? try record(Self.absorbed, in: scene) : nil
        let survivor = chance(85) ? try record(Self.survivor, in: scene) : nil
        if let absorbed {
            for index in 0..<number(0...2) {
                let id = EndUserID(rawValue: "owl_anon_claimed\(index)")
                try tombstone(id, of: absorbed, in: scene)
                try claim(id, by: absorbed, in: scene)
            }
            if chance(30) { try tombstone(EndUserID(rawValue: "99"), of: absorbed, in: scene) }
        }
        if let absorbed, let survivor {
            for index in 0..<number(0...2) {
                let id = EndUserID(rawValue: "owl_anon_shared\(index)")
                if chance(50) { try tombstone(id, of: chance(50) ? absorbed : survivor, in: scene) }
                for owner in [absorbed, survivor, other].shuffled(using: &random).prefix(number(2...3)) {
                    try claim(id, by: owner, in: scene)
                }
            }
            if chance(50) {
                let time = past()
                try claim(EndUserID(rawValue: "owl_anon_same_time1"), by: absorbed, in: scene, at: time)
                try claim(EndUserID(rawValue: "owl_anon_same_time2"), by: survivor, in: scene, at: time)
            }
        }
        for id in Self.kept {
            switch number(0...4) {
            case 0, 1: try record(id, in: scene)
            case 2: if let survivor { try claim(id, by: survivor, in: scene) }
            case 3:
                try tombstone(id, of: other, in: scene)
                try claim(id, by: other, in: scene)
            default: break
            }
        }
    }

    private func insertRecord(
        _ name: EndUserID, in scene: AnalyticsScene, of owner: Int64? = nil, properties: String? = nil
    ) throws -> Int64 {
        let seen = past()
        try db.execute(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, merged_at, properties,
                                   first_seen_at, last_seen_at, is_dev, last_locale)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, UUID(at: app.time.now), scene.project, name, name.isAnonymous, owner,
            owner.flatMap { _ in name.isAnonymous || chance(50) ? seen : nil }, properties, seen, seen, chance(10),
            chance(50) ? "de_DE" : nil)
        return try db.first("SELECT LAST_INSERT_ID()") { row in try row.read() } ?? 0
    }

    /// A live one, with anything that may name it.
    @discardableResult
    private func record(_ name: EndUserID, in scene: AnalyticsScene) throws -> Int64 {
        let keys =
            switch number(0...5) {
            case 0: [String]()
            case 1: (0..<number(30...60)).map { "key \($0)" }
            default: (0..<8).filter { _ in chance(40) }.map { "key \($0)" }
            }
        let all = keys + ["asa_campaign", "attribution_source", "own \(name)"].filter { _ in chance(30) }
        let properties = JSONValue.object(
            JSONObject(all.map { ($0, .string("\(name) \(number(0...9))")) }))
        let id = try insertRecord(
            name, in: scene, properties: all.isEmpty ? nil : String(decoding: properties.json(), as: UTF8.self))
        for app in apps[scene.project] ?? [] where chance(50) {
            let seen = past()
            try db.execute(
                "INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?)", id,
                app, seen, seen + .seconds(number(0...100_000)))
        }
        try events(number(0...4), of: id, countedFor: id, in: scene)
        for _ in 0..<number(0...3) { try feedback(of: id, in: scene) }
        for _ in 0..<number(0...3) { try attachment(of: id, in: scene) }
        for _ in 0..<number(0...2) { try occurrence(of: id, in: scene) }
        for (questionnaire, slug) in questionnaires[scene.project] ?? [] {
            if chance(50) { try response(of: id, to: questionnaire, slug, isDeleted: false, in: scene) }
            if chance(20) { try response(of: id, to: questionnaire, slug, isDeleted: true, in: scene) }
        }
        return id
    }

    private func tombstone(_ name: EndUserID, of owner: Int64, in scene: AnalyticsScene) throws {
        let id = try insertRecord(name, in: scene, of: owner)
        if name.isAnonymous { try events(number(0...3), of: id, countedFor: owner, in: scene) }
    }

    private func claim(_ id: EndUserID, by owner: Int64, in scene: AnalyticsScene, at time: Timestamp? = nil) throws {
        try db.execute(
            "INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at) VALUES (?, ?, ?, ?)",
            scene.project, id, owner, time ?? past())
    }

    private func events(_ count: Int, of record: Int64, countedFor owner: Int64, in scene: AnalyticsScene) throws {
        for _ in 0..<count {
            let (id, time) = (UUID(at: app.time.now), past())
            try db.execute(
                """
                INSERT INTO events (id, app_id, session_id, app_user_id, level, message, is_dev, timestamp, received_at)
                VALUES (?, ?, ?, ?, 'info', ?, ?, ?, ?)
                """, id, scene.appID, id, record, "early in \(scene.project) \(id)", chance(20), time, time)
            try db.execute(
                """
                INSERT INTO app_user_event_counts (app_user_id, month, n) VALUES (?, DATE_FORMAT(?, '%Y-%m-01'), 1)
                ON DUPLICATE KEY UPDATE n = n + 1
                """, owner, time)
        }
        if count > 2 {
            try db.execute(
                """
                INSERT INTO metric_events (id, app_id, session_id, app_user_id, metric_slug, phase, is_dev, timestamp,
                                           received_at)
                VALUES (?, ?, ?, ?, 'slug', 'record', FALSE, ?, ?)
                """, UUID(at: app.time.now), scene.appID, UUID(at: app.time.now), record, app.time.now, app.time.now)
        }
    }

    private func feedback(of record: Int64, in scene: AnalyticsScene) throws {
        let time = past()
        try db.execute(
            """
            INSERT INTO feedback (id, app_id, project_id, app_user_id, message, is_dev, created_at, updated_at, deleted_at)
            VALUES (?, ?, ?, ?, 'words', FALSE, ?, ?, ?)
            """, UUID(at: app.time.now), scene.appID, scene.project, record, time, time, chance(30) ? time : nil)
    }

    private func attachment(of record: Int64, in scene: AnalyticsScene) throws {
        let time = past()
        try db.execute(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, uploaded_at, created_at, deleted_at)
            VALUES (?, ?, ?, ?, ?, 'a.txt', 'text/plain', ?, REPEAT('0', 64), FALSE, ?, ?, ?)
            """, UUID(at: app.time.now), scene.project, scene.appID, UUID(at: app.time.now), record, number(1...1000),
            chance(50) ? time : nil, time, chance(30) ? time : nil)
    }

    private func occurrence(of record: Int64, in scene: AnalyticsScene) throws {
        let (issue, time) = (UUID(at: app.time.now), past())
        try db.execute(
            """
            INSERT INTO issues (id, app_id, project_id, status, title, is_dev, created_at, updated_at)
            VALUES (?, ?, ?, 'open', 'It broke', FALSE, ?, ?)
            """, issue, scene.appID, scene.project, time, time)
        try db.execute(
            """
            INSERT INTO issue_occurrences (id, issue_id, session_id, app_user_id, timestamp, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """, UUID(at: app.time.now), issue, UUID(at: app.time.now), record, time, time)
    }

    private func response(
        of record: Int64, to questionnaire: UUID, _ slug: String, isDeleted: Bool, in scene: AnalyticsScene
    ) throws {
        let (time, isDraft) = (past(), chance(40))
        try db.execute(
            """
            INSERT INTO questionnaire_responses (id, questionnaire_id, slug, app_id, project_id, app_user_id, answers,
                                                 submitted_at, status, is_dev, created_at, updated_at, deleted_at)
            VALUES (?, ?, ?, ?, ?, ?, '{}', ?, ?, FALSE, ?, ?, ?)
            """, UUID(at: app.time.now), questionnaire, slug, scene.appID, scene.project, record,
            isDraft ? nil : time, isDraft ? "draft" : "new", time, time, isDeleted ? time : nil)
    }

    // MARK: Merging

    func merge(keepsJournal: Bool = true) throws -> RecordsJournal? {
        try Analytics.write(database, at: app.time.clock) { transaction in
            try transaction.unite(
                Self.absorbed, into: Self.survivor, claiming: { Self.kept }, keepsJournal: keepsJournal
            ) { _ = try transaction.claim($0, for: Self.survivor) }
        }
    }

    func undo(_ journal: RecordsJournal, keepChanged: Bool = false) throws -> [RecordConflict] {
        try Analytics.write(database, at: app.time.clock) { try $0.undo(journal, keepChanged: keepChanged) }
    }

    // MARK: Looking

    /// Tables in which a merge may change something, in the order of what they refer to. Of records all columns but the time of the
    /// last sign and the version.
    private static let tables: [(name: String, columns: String)] = [
        ("projects", "*"),
        (
            "app_users",
            """
            id, HEX(public_id), HEX(project_id), user_id, is_anonymous, merged_into, merged_at, properties, first_seen_at,
            last_locale, is_dev, attachment_bytes, attachment_files
            """
        ),
        ("app_user_apps", "*"), ("app_user_event_counts", "*"), ("identity_claims", "*"), ("events", "*"),
        ("metric_events", "*"), ("funnel_events", "*"), ("feedback", "*"), ("event_attachments", "*"), ("issues", "*"),
        ("issue_occurrences", "*"), ("questionnaires", "*"), ("questionnaire_responses", "*"),
    ]

    /// All rows, one a line.
    func rows() throws -> Set<String> {
        try app.database.settle()
        var rows: Set<String> = []
        for table in Self.tables {
            for row in try db.query("SELECT \(table.columns) FROM \(table.name)") {
                rows.insert(
                    table.name + ": "
                        + row.map { $0.map { String(validating: $0, as: UTF8.self) ?? $0.hexadecimal } ?? "NULL" }
                        .joined(separator: " | "))
            }
        }
        return rows
    }

    /// Whose each event is, by its message.
    func readers() throws -> [String: String] {
        try app.database.settle()
        return Dictionary(
            uniqueKeysWithValues: try db.all("SELECT message, user_id FROM events_resolved") { row in
                (try row.read(String.self), try row.read(String?.self) ?? "nobody")
            })
    }
}
