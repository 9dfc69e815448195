/// Metrics in Prometheus' text format 0.0.4: `# HELP`, `# TYPE`, then one line for each sample.
struct Exposition {
    enum Kind: String {
        case counter, gauge
    }

    /// In the order in which they are written.
    typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        add(name, kind, help, [([], value)])
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(Labels, Double)]) {
        begin(name, kind.rawValue, help)
        for (labels, value) in samples { sample(name, labels, value) }
    }

    /// - Parameter samples: the count of each bucket alone (one bucket more than bounds), and the sum of all observed
    ///   values.
    mutating func addHistogram(
        _ name: String, _ help: String, bounds: [Double], _ samples: [(Labels, [Int], Double)]
    ) {
        begin(name, "histogram", help)
        for (labels, buckets, sum) in samples {
            var count = 0
            for (bound, bucket) in zip(bounds.map(number) + ["+Inf"], buckets) {
                count += bucket
                sample("\(name)_bucket", labels + [("le", bound)], Double(count))
            }
            sample("\(name)_sum", labels, sum)
            sample("\(name)_count", labels.map { $0 }, Double(count))
        }
    }

    private mutating func begin(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    private mutating func sample(_ name: String, _ labels: Labels, _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(number(value))\n"
    }

    private func number(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? value.description
    }

    private func escaped(_ value: String) -> String {
        value.map { $0 == "\\" ? "\\\\" : $0 == "\"" ? "\\\"" : $0 == "\n" ? "\\n" : String($0) }.joined()
    }
}
