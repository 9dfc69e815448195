import AnalyticsJobs
import ArgumentParser
import Configuration
import Database
import JSON
import Migrations

struct RecountAttachments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recount", abstract: "Corrects the attachment counts that `verify` reports as wrong.",
        discussion: """
            Projects and end users count their attachments, and quotas use these counts. This command counts the \
            attachments again and corrects each count that is wrong, in one transaction for each. Run it while servers \
            run. Reservations of a project wait while the attachments of that project are counted.
            """)

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        // The search reads the tables from end to end.
        let database = Database(try Environment.databaseSettings().connection.forMigrations)
        let corrections = try AttachmentRecount(isDryRun: job.isDryRun).run(database) { count in
            output.meter("\(count) counts corrected")
            job.pause()
        }
        output.print(
            RecountBody(dryRun: job.isDryRun, corrected: corrections.map(CorrectionBody.init)),
            job.words(
                corrections.isEmpty ? "all counts are correct" : corrections.map(words).joined(separator: "\n")))
    }

    private func words(of correction: AttachmentRecount.Correction) -> String {
        "\(correction.holder): \(words(of: correction.counted)) → \(words(of: correction.actual))"
    }

    private func words(of count: AttachmentRecount.Count) -> String { "\(count.files) files, \(count.bytes) bytes" }
}

private struct RecountBody: Encodable {
    let dryRun: Bool
    let corrected: [CorrectionBody]
}

private struct CorrectionBody: Encodable {
    struct Count: Encodable {
        let files: Int64
        let bytes: Int64

        init(_ count: AttachmentRecount.Count) {
            files = count.files
            bytes = count.bytes
        }
    }

    /// As `verify` names it.
    let row: String
    let before: Count
    let after: Count

    init(_ correction: AttachmentRecount.Correction) {
        row = correction.holder.description
        before = Count(correction.counted)
        after = Count(correction.actual)
    }
}
