import Analytics
import AnalyticsJobs
import ArgumentParser
import Files
import Time

struct CleanAttachments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean", abstract: "Removes files and rows of attachments that are no longer needed.",
        discussion: """
            Removes attachments that were deleted a week ago, reservations that nobody filled within a day, files in \
            MERGANSER_ATTACHMENT_DIR that no attachment names, and temporary files of uploads whose server was killed. \
            It may run while servers run, on any number of nodes, and any number of times. A timer runs it daily.

            Deleted attachments count towards quotas until they are removed; --at-once removes them today.
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
                .failed, "\(error); set MERGANSER_ATTACHMENT_DIR as for merganserd, which creates the folders in it")
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
