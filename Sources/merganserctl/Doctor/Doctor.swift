import ArgumentParser

struct Doctor: ParsableCommand {
    @OptionGroup var output: Output
}
