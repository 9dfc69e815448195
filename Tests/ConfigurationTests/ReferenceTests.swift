import Configuration
import Foundation
import Testing

@Suite struct ReferenceTests {
    @Test func everyVariableIsExplainedOnce() {
        #expect(Set(Variable.all.map(\.name)).count == Variable.all.count)
        for variable in Variable.all {
            #expect(variable.name.wholeMatch(of: /MERGANSER(_[A-Z]+)+/) != nil, "\(variable.name)")
            #expect(
                !variable.form.isEmpty && !variable.help.isEmpty && !variable.help.hasSuffix("."), "\(variable.name)")
            #expect(
                Variable.reference.contains("\n  \(variable.name)")
                    || Variable.reference.hasPrefix("  \(variable.name)"))
        }
    }

    @Test func defaultsAreValuesOfTheirVariables() throws {
        let defaults = Variable.all.compactMap { variable in
            if case .text(let text) = variable.preset { (variable.name, text) } else { nil }
        }
        let explicit = good.setting(Dictionary(uniqueKeysWithValues: defaults)).filter {
            // Only for a host.
            $0.key != "MERGANSER_DATABASE_PORT"
        }
        #expect(problems(explicit) == [])
    }

    @Test func thePageHasTheTable() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        #expect(page.contains(Variable.markdownReference), "paste the output of `merganserd --reference`")
    }
}
