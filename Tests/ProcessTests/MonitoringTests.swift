import Foundation
import JSON
import TestSupport
import Testing

/// `docs/monitoring` uses only metrics that a running server has, and all labels exist.
@Suite struct MonitoringTests {
    private static let files = ["alerts.yml", "dashboard.json"]
    /// The labels that Prometheus adds: its own, and those of `prometheus.yml`.
    private static let scrapeLabels: Set = ["job", "instance", "color", "machine"]

    @Test func everyMetricAndLabelIsExposed() throws {
        let labels = try exposedLabels()
        let all = labels.values.reduce(Self.scrapeLabels) { $0.union($1) }
        for file in Self.files {
            let queries = try queries(in: file)
            #expect(queries.count > 15, "\(file)")
            for query in queries {
                for match in query.matches(of: /\b((?:merganser|process)_[a-z_]+)(?:\{([^}]*(?:"[^"]*"[^}]*)*)\})?/) {
                    let name = String(match.1)
                    let exposed = try #require(labels[name], "\(file): \(name) is not exposed")
                    for matcher in (match.2 ?? "").matches(of: /([a-z_]+)(?:=~|!~|!=|=)"/) {
                        let label = String(matcher.1)
                        #expect(
                            exposed.union(Self.scrapeLabels).contains(label), "\(file): \(name) has no label \(label)")
                    }
                }
                for match in query.matches(of: /\b(?:by|on) \(([a-z_, ]*)\)/) {
                    for label in match.1.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                        #expect(all.contains(label), "\(file): nothing has a label \(label): \(query)")
                    }
                }
            }
            for match in try text(file).matches(of: /\{\{ ?(?:\$labels\.)?([a-z_]+) ?\}\}/) {
                #expect(all.contains(String(match.1)), "\(file): nothing has a label \(match.1)")
            }
        }
    }

    /// The metrics of a route that is not mounted would always be zero.
    @Test func everyRouteIsInTheTable() throws {
        let golden = Repository.root + "/Tests/APITests/Golden/routes.txt"
        let routes = try String(contentsOfFile: golden, encoding: .utf8).split(separator: "\n").compactMap {
            $0.split(separator: " ", omittingEmptySubsequences: true).dropFirst().first.map(String.init)
        }
        for file in Self.files {
            for query in try queries(in: file) {
                for match in query.matches(of: /\broute(=|=~|!~)"([^"]*)"/) {
                    let pattern = match.1 == "=" ? nil : try Regex(String(match.2))
                    let isMounted = (routes + ["unmatched"]).contains { route in
                        pattern.map { route.wholeMatch(of: $0) != nil } ?? (route == match.2)
                    }
                    #expect(isMounted, "\(file): \(match.2)")
                }
            }
        }
    }

    @Test func everyAlertHasAnAnswerAndEveryAnswerAnAlert() throws {
        let alerts = try text("alerts.yml").matches(of: /- alert: (\w+)\n(?:(?! +- alert).*\n)*/)
        let names = alerts.map { String($0.1) }
        #expect(Set(names).count == names.count)
        let document = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        let answers = document.matches(of: /\n### (Merganser\w+)\n/).map { String($0.1) }
        #expect(Set(answers) == Set(names) && answers.count == names.count)
        for alert in alerts {
            #expect(alert.0.contains("runbook: docs/operations.md#\(alert.1.lowercased())\n"), "\(alert.1)")
            #expect(alert.0.contains(/severity: (?:page|ticket)\b/), "\(alert.1)")
        }
        let tested = try text("alerts.test.yml").matches(of: #/alertname="(\w+)", alertstate="firing", /#)
        #expect(Set(tested.map { String($0.1) }) == Set(names), "each fires in a test")
    }

    @Test func theDashboardCanBeImportedAnywhere() throws {
        let dashboard = try JSONValue(json: Array(text("dashboard.json").utf8))
        let panels = try #require(dashboard["panels"]?.array)
        let ids = panels.compactMap { $0["id"] }
        #expect(ids.count == panels.count && Set(ids.map { "\($0)" }).count == ids.count)
        for panel in panels where panel["type"]?.string != "row" {
            #expect(panel["datasource"]?["uid"]?.string == "${datasource}", "\(panel["title"] ?? "")")
        }
        let variables = dashboard["templating"]?["list"]?.array ?? []
        #expect(variables.compactMap { $0["name"]?.string } == ["datasource", "job"])
        #expect(dashboard["id"] == nil, "the number that another Grafana gave it")
    }

    // MARK: The files

    private func text(_ file: String) throws -> String {
        try String(contentsOfFile: Repository.root + "/docs/monitoring/" + file, encoding: .utf8)
    }

    /// The PromQL of a file, quotes as they are in PromQL.
    private func queries(in file: String) throws -> [String] {
        guard file.hasSuffix(".json") else {
            // An expression ends where its rule goes on.
            return try text(file).matches(of: /\n        expr: ((?:.*\n)(?:          .*\n)*)/).map { String($0.1) }
        }
        func strings(_ value: JSONValue) -> [String] {
            switch value {
            case .array(let values): values.flatMap(strings)
            case .object(let object):
                object.members.flatMap { member in
                    member.value.string.map { ["expr", "definition"].contains(member.name) ? [$0] : [] }
                        ?? strings(member.value)
                }
            default: []
            }
        }
        return strings(try JSONValue(json: Array(text(file).utf8)))
    }

    // MARK: The server

    /// The labels of every metric, those of all its samples together.
    private func exposedLabels() throws -> [String: Set<String>] {
        let installation = try Installation()
        for command in ["generate", "activate"] {
            #expect(try installation.tool("signing-key", command).exit == .status(0))
        }
        let server = try installation.readyServer()
        #expect(try installation.ask("GET", "/api/v1/me").status == 401)
        var exposed: Exposed?
        try server.wait(for: "the first look at what the jobs left undone") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            exposed = try Exposed(text)
            return text.contains("merganser_signing_key_age_seconds ")
        }
        return try #require(exposed).samples.reduce(into: [:]) { labels, sample in
            labels[sample.name, default: []].formUnion(
                sample.labels.matches(of: /([a-z_]+)="/).map { String($0.1) })
        }
    }
}
