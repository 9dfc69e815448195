import ArgumentParser

/// Commands about the files of attachments.
struct AttachmentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attachments", abstract: "Manages the files of attachments.", subcommands: [CleanAttachments.self])
}
