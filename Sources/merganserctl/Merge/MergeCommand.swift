import ArgumentParser

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Shows which accounts were merged, by what and when, and takes merges back.",
        discussion: "`user merge` merges two accounts.", subcommands: [ListMerges.self, ShowMerge.self, UndoMerge.self])
}
