package import Analytics
package import Database
package import Time

/// Removes remains of attachments (analytics §14.3): deleted rows, reservations that nobody filled, files that no row
/// names, and temporary files of uploads whose process ended.
///
/// It keeps no state between steps, so it may be stopped at any point, repeated, and run on several nodes at once.
package struct AttachmentCleanup: Sendable {
    /// What was removed; in a dry run, what would be removed.
    package struct Report: Equatable, Sendable {
        /// Rows that were deleted long enough ago.
        package var attachments = 0
        /// Rows without a file, deleted or not, that are older than a day.
        package var reservations = 0
        package var files = 0
        package var temporaryFiles = 0

        package init() {}
    }

    private let store: any AttachmentStore
    private let now: Timestamp
    private let afterlife: Duration
    private let isDryRun: Bool
    /// The same time for the whole run.
    private var clock: Clock { Clock { [now] in now } }

    /// How many rows a transaction deletes, and how many files are looked up at once.
    static let batch = 1000
    /// How long rows of deleted attachments stay.
    package static let afterlife = Duration.seconds(7 * 86_400)

    /// - Parameter afterlife: how long deleted attachments stay. Quotas count them until they are removed.
    package init(
        _ store: any AttachmentStore, at now: Timestamp, afterlife: Duration = afterlife, isDryRun: Bool = false
    ) {
        self.store = store
        self.now = now
        self.afterlife = afterlife
        self.isDryRun = isDryRun
    }

    /// - Parameter progress: called after each batch with the report so far.
    package func run(_ database: Database, progress: (Report) -> Void = { _ in }) throws -> Report {
        var report = Report()
        try removeRows(.deleted(before: now - afterlife), database) { count in
            report.attachments += count
            progress(report)
        }
        try removeRows(.pending(before: now - .seconds(86_400)), database) { count in
            report.reservations += count
            progress(report)
        }
        // Comes after the rows, so that their files are no longer named.
        try store.list { digests in
            for start in stride(from: 0, to: digests.count, by: Self.batch) {
                report.files += try removeFiles(Array(digests[start...].prefix(Self.batch)), database)
                progress(report)
            }
        }
        for content in try store.abandoned(before: now - .seconds(86_400)) {
            if try isDryRun || content.remove() { report.temporaryFiles += 1 }
        }
        progress(report)
        return report
    }

    private func removeRows(_ rows: OutlivedRows, _ database: Database, _ count: (Int) -> Void) throws {
        if isDryRun { return count(try database.read { try $0.count(rows) }) }
        while true {
            let batch = try database.read { try $0.outlived(rows) }
            // Fewer than in the batch if another node removes them, too.
            let removed = try Analytics.write(database, at: clock) { try $0.remove(batch, ifStill: rows) }
            count(removed)
            if batch.count < Self.batch { return }
        }
    }

    private func removeFiles(_ digests: [ContentDigest], _ database: Database) throws -> Int {
        let unnamed = try database.read { try $0.unnamed(digests) }
        return try unnamed.count { try isDryRun || removeFile($0, database) }
    }

    /// - Returns: false if somebody else has removed the file, or a row names it by now.
    private func removeFile(_ digest: ContentDigest, _ database: Database) throws -> Bool {
        // On a cluster another node may have committed a row, and the file is gone before the nodes meet at COMMIT. A node waits
        // only outside a transaction.
        try database.catchUp()
        // Stays true in a repeated transaction, which finds no file any more.
        var isRemoved = false
        try Analytics.write(database, at: clock) { transaction in
            // An upload of this content has either finished, and its row names the file, or waits for this lock.
            try transaction.lockContent(digest)
            if try transaction.connection.unnamed([digest]).isEmpty { return }
            if try store.remove(digest) { isRemoved = true }
        }
        return isRemoved
    }
}

/// Rows that are kept no longer.
enum OutlivedRows {
    /// Deleted before a time.
    case deleted(before: Timestamp)
    /// Reserved before a time, and still without bytes.
    case pending(before: Timestamp)

    var end: Timestamp {
        switch self {
        case .deleted(let end), .pending(let end): end
        }
    }
}
