import ArgumentParser

struct ApplicationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "application", abstract: "Registers, shows and changes relying parties.",
        subcommands: [
            CreateApplicationCommand.self, ListApplications.self, ShowApplication.self, SetApplication.self,
            ApproveApplication.self, RefuseChanges.self, SuspendApplication.self, RotateSecret.self,
        ])
}
