import Analytics
import AnalyticsJobs
import ArgumentParser
import Files
import JSON
import Time

struct CleanAttachments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean", abstract: "Removes what is left of attachments.",
        discussion: """
            Attachments deleted a week ago, reservations that nobody filled within a day, files that no attachment names \
            (in MERGANSER_ATTACHMENT_DIR), and what an upload left behind when its server was killed. Beside the running \
            servers, on any number of nodes, and to be repeated at will. A timer runs it daily.

            What was deleted counts towards quotas until it is gone; --at-once frees that room today.
            """)

    @Flag(name: .customLong("at-once"), help: "Remove deleted attachments without waiting for the week to end.")
    var isAtOnce = false

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        let database = try Environment.database()
        let store = AttachmentDirectory(try Environment.attachmentDirectory())
        let cleanup = AttachmentCleanup(
            store, at: Clock.system.now, afterlife: isAtOnce ? .zero : AttachmentCleanup.afterlife,
            isDryRun: job.isDryRun)
        let report: AttachmentCleanup.Report
        do {
            report = try cleanup.run(database) { report in
                output.meter("\(report.attachments + report.reservations) rows, \(report.files) files removed")
                job.pause()
            }
        } catch let error as FileError {
            throw ToolError(
                .failed, "\(error); is that below MERGANSER_ATTACHMENT_DIR of merganserd, which makes its folders?")
        }
        output.print(
            CleanBody(dryRun: job.isDryRun, removed: CleanBody.Removed(report)),
            job.words([
                ("deleted attachments", "\(report.attachments)"), ("reservations", "\(report.reservations)"),
                ("files", "\(report.files)"), ("temporary files", "\(report.temporaryFiles)"),
            ]))
    }
}

private struct CleanBody: Encodable {
    struct Removed: Encodable {
        var attachments: Int
        var reservations: Int
        var files: Int
        var temporaryFiles: Int

        init(_ report: AttachmentCleanup.Report) {
            attachments = report.attachments
            reservations = report.reservations
            files = report.files
            temporaryFiles = report.temporaryFiles
        }
    }

    var dryRun: Bool
    var removed: Removed
}
