import ArgumentParser

struct ProjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Creates, changes and shows projects, whose apps share their end users.",
        subcommands: [CreateProjectCommand.self, SetProject.self, ListProjects.self, ShowProject.self])
}
