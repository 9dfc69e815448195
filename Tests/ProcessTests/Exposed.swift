import Testing

/// Parsed text format 0.0.4: every sample belongs to a family that was declared once, before it.
struct Exposed {
    var samples: [(name: String, labels: String, value: Double)] = []

    init(_ text: String) throws {
        var families: [String: Substring] = [:]
        for line in text.split(separator: "\n") {
            if let type = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge|histogram)/) {
                #expect(families.updateValue(type.2, forKey: String(type.1)) == nil, "\(line)")
            } else if line.wholeMatch(of: /# HELP [a-z_]+ [^\n]+/) == nil {
                let match = line.wholeMatch(of: /([a-z_]+)(\{(?:[a-z_]+="[^"]*",?)+\})? ([0-9.e+-]+)/)
                let sample = try #require(match, "\(line)")
                let name = String(sample.1)
                let isDeclared = families.contains { family, type in
                    name == family
                        || (type == "histogram"
                            && ["bucket", "sum", "count"].contains { name == "\(family)_\($0)" })
                }
                #expect(isDeclared, "\(line)")
                samples.append((name, String(sample.2 ?? ""), try #require(Double(sample.3))))
            }
        }
    }

    subscript(name: String, labels: String = "") -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }
}
