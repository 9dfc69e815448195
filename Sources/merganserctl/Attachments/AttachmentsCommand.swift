import ArgumentParser

/// Commands about attachments.
struct AttachmentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachments", abstract: "Manages attachments: their files, and the counts that quotas use.",
        subcommands: [CleanAttachments.self, RecountAttachments.self])
}
