import Analytics
import AnalyticsJobs
import Database
import Foundation
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Threads
import Time

/// Analytics §14.3.
@Suite struct AttachmentCleanupTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
        try scene.store.prepare()
    }

    private func clean(isDryRun: Bool = false, at time: Timestamp? = nil) throws -> AttachmentCleanup.Report {
        try AttachmentCleanup(scene.store, at: time ?? app.time.now, isDryRun: isDryRun).run(
            Database(app.database.options))
    }

    private func report(
        attachments: Int = 0, reservations: Int = 0, files: Int = 0, temporaryFiles: Int = 0
    ) -> AttachmentCleanup.Report {
        var report = AttachmentCleanup.Report()
        (report.attachments, report.reservations) = (attachments, reservations)
        (report.files, report.temporaryFiles) = (files, temporaryFiles)
        return report
    }

    @Test func rowsAreKeptAsLongAsTheyMayBeNeeded() throws {
        let kept = try scene.attach(client, [1])
        let deleted = try scene.attach(client, [2])
        _ = try scene.reserve(client, [3])
        #expect(client.send(.delete, "/v1/attachments/\(deleted)", token: scene.clientKey).status == 200)
        let start = app.time.now
        #expect(try clean(at: start + .seconds(86_400)) == report())
        let nextDay = start + .seconds(86_400) + .milliseconds(1)
        #expect(try clean(isDryRun: true, at: nextDay) == report(reservations: 1))
        #expect(try scene.reservations() == 3)
        #expect(try clean(at: nextDay) == report(reservations: 1))
        #expect(try clean(at: start + .seconds(7 * 86_400)) == report())
        let nextWeek = start + .seconds(7 * 86_400) + .milliseconds(1)
        // A dry run removes no row, so the row's file is still named.
        #expect(try clean(isDryRun: true, at: nextWeek) == report(attachments: 1))
        #expect(try clean(at: nextWeek) == report(attachments: 1, files: 1))
        #expect(try app.ids("SELECT id FROM event_attachments") == [UUID(kept)])
        #expect(try scene.storedFiles() == [sha256([1]).hexadecimal])
        #expect(try clean(at: nextWeek) == report())
    }

    @Test func aFileStaysWhileAnyRowNamesIt() throws {
        let first = try scene.attach(client, [1])
        try scene.attach(client, [1])
        try app.change("DELETE FROM event_attachments WHERE id = ?", UUID(first))
        #expect(try clean() == report())
        try app.change("UPDATE event_attachments SET deleted_at = created_at")
        #expect(try clean() == report())
        try app.change("UPDATE event_attachments SET deleted_at = NULL, uploaded_at = NULL")
        #expect(try clean() == report())
        try app.change("DELETE FROM event_attachments")
        #expect(try clean(isDryRun: true) == report(files: 1))
        #expect(try scene.storedFiles().count == 1)
        #expect(try clean() == report(files: 1))
        #expect(try scene.storedFiles().isEmpty)
    }

    @Test func whatAKilledUploadLeftIsRemovedAfterADay() throws {
        let path = app.attachments.file("new/0123")
        try Data([1, 2, 3]).write(to: URL(filePath: path))
        let now = Clock.system.now
        #expect(try clean(at: now + .seconds(86_000)) == report())
        let later = now + .seconds(86_500)
        #expect(try clean(isDryRun: true, at: later) == report(temporaryFiles: 1))
        #expect(try clean(at: later) == report(temporaryFiles: 1))
        #expect(try scene.stagedFiles() == 0)
    }

    @Test func manyRowsGoInBatches() throws {
        try app.change(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, original_filename, content_type,
                                           size_bytes, sha256, is_dev, created_at, deleted_at)
            SELECT RANDOM_BYTES(16), ?, ?, RANDOM_BYTES(16), 'f', 't', 1, SHA2(seq, 256), 0, '2026-01-01',
                   IF(seq % 2, '2026-01-01', NULL)
            FROM seq_1_to_5000
            """, scene.project, scene.appID)
        var seen: [AttachmentCleanup.Report] = []
        let result = try AttachmentCleanup(scene.store, at: app.time.now).run(Database(app.database.options)) {
            seen.append($0)
        }
        #expect(result == report(attachments: 2500, reservations: 2500))
        #expect(seen.prefix(3).map(\.attachments) == [1000, 2000, 2500])
        #expect(try scene.reservations() == 0)
    }

    @Test func severalAtOnceRemoveEverythingOnce() throws {
        let scene = scene
        for number in 0..<40 { try scene.attach(client, [UInt8(number)]) }
        try app.change("UPDATE event_attachments SET deleted_at = created_at")
        let (app, later) = (app, app.time.now + .seconds(8 * 86_400))
        let reports = app.atOnce(4) { _, _ in
            Result { try AttachmentCleanup(scene.store, at: later).run(Database(app.database.options)) }
        }
        let all = try reports.map { try $0.get() }
        #expect(all.map(\.attachments).reduce(0, +) == 40 && all.map(\.files).reduce(0, +) == 40)
        #expect(try scene.storedFiles().isEmpty)
    }

    /// A content was deleted, and its file exists without a row. One thread uploads the same content again while
    /// clean-up runs repeatedly. In whatever order they run, a stored row has its bytes.
    @Test func cleanUpRacesUploadsOfTheSameContent() throws {
        let (app, scene) = (app, scene)
        let bytes: [UInt8] = [1, 2, 3]
        let isOver = Monitor(false)
        let removed = Monitor(0)
        let cleaner = Thread {
            let database = Database(app.database.options)
            while !isOver.withLock({ $0 }) {
                do {
                    let report = try AttachmentCleanup(scene.store, at: app.time.now).run(database)
                    removed.change { $0 += report.files }
                } catch {
                    Issue.record(error)
                }
            }
        }
        for _ in 0..<150 {
            // The row is removed, so clean-up may remove the file at any moment from now on.
            try app.change("DELETE FROM event_attachments")
            let id = try scene.attach(client, bytes)
            let link = client.send(.get, "/v1/attachments/\(id)", token: scene.agentKey)["download_url"]?["url"]?.string
            let path = String(try #require(link).dropFirst("https://id.example".count))
            let answer = client.send(.get, path)
            #expect(try answer.status == 200 && answer.content() == bytes)
        }
        isOver.change { $0 = true }
        cleaner.join()
        #expect(try scene.storedFiles().count == 1)
        #expect(removed.withLock { $0 } > 0)
    }

    /// The reverse: clean-up has seen no row for a file and waits to remove it, while an upload stores the file.
    @Test func cleanUpLooksAgainOnceItMayRemove() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let digest = sha256(bytes).hexadecimal
        try scene.attach(client, bytes)
        try app.change("DELETE FROM event_attachments")
        let holder = try app.database.connect()
        try holder.begin()
        try holder.execute("INSERT INTO attachment_locks (sha256) VALUES (?)", digest)
        let (app, scene) = (app, scene)
        let files = Monitor<Int?>(nil)
        let cleaner = Thread {
            let report = try? AttachmentCleanup(scene.store, at: app.time.now).run(Database(app.database.options))
            files.change { $0 = report?.files }
        }
        try app.waitForALockWait()
        _ = try scene.reserve(client, bytes)
        try holder.rollback()
        cleaner.join()
        #expect(files.withLock { $0 } == 0)
        #expect(try scene.storedFiles() == [digest])
    }

    /// Clean-up has found that no row names a file, and holds its lock. An upload of the same content waits, and stores
    /// its file after the removal.
    @Test func anUploadWaitsForTheRemovalOfItsContent() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let digest = sha256(bytes).hexadecimal
        try scene.attach(client, bytes)
        let id = try scene.reserve(client, bytes)
        let holder = try app.database.connect()
        try holder.begin()
        try holder.execute("INSERT INTO attachment_locks (sha256) VALUES (?)", digest)
        try holder.execute("DELETE FROM attachment_locks WHERE sha256 = ?", digest)
        let scene = scene
        let status = Monitor<Int?>(nil)
        let uploader = Thread {
            let answer = scene.upload(scene.app.client(), id, bytes).status
            status.change { $0 = answer }
        }
        try app.waitForALockWait()
        #expect(try scene.store.remove(try #require(ContentDigest(rawValue: digest))))
        try holder.commit()
        uploader.join()
        #expect(status.withLock { $0 } == 200)
        #expect(try scene.storedFiles() == [digest])
    }
}
