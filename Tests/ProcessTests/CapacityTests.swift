import Foundation
import TestSupport
import Testing

/// The units allow as much memory as the costliest requests take, according to `docs/operations.md`, Capacity.
@Suite struct CapacityTests {
    @Test func anInstanceMayUseWhatItsRequestsTake() throws {
        let row = try row("memory of an instance")
        let sum = try #require(
            row.firstMatch(of: /(\d+) MiB \+ threads × (\d+) MiB \+ dispatchers × (\d+) MiB/)
        ).output
        let example = try #require(row.firstMatch(of: /(\d+) threads and (\d+) dispatcher: (\d+) MiB/)).output
        let (base, thread, dispatcher) = (
            try #require(Int(sum.1)), try #require(Int(sum.2)), try #require(Int(sum.3))
        )
        let (threads, dispatchers, total) = (
            try #require(Int(example.1)), try #require(Int(example.2)), try #require(Int(example.3))
        )
        #expect(base + thread * threads + dispatcher * dispatchers <= total)
        #expect(try memoryLimit("merganser@.service") == total)
    }

    @Test func aJobHasALimitToo() throws { #expect(try memoryLimit("merganser-.service.d/job.conf") == 512) }

    /// In MiB.
    private func memoryLimit(_ unit: String) throws -> Int? {
        let text = try String(contentsOfFile: Repository.root + "/systemd/" + unit, encoding: .utf8)
        return text.firstMatch(of: /(?m)^MemoryMax=(\d+)M$/).flatMap { Int($0.output.1) }
    }

    private func row(_ name: String) throws -> String {
        let document = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        return String(try #require(document.split(separator: "\n").first { $0.hasPrefix("| \(name) |") }))
    }
}
