import ArgumentParser

/// Attachments of the analytics surface: what an operator does about their files.
struct AttachmentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachments", abstract: "Looks after attachments.", subcommands: [CleanAttachments.self])
}
