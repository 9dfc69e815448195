extension Configuration {
    /// One sentence for each variable whose name begins with `MERGANSER_` but which does not exist. Without a warning,
    /// typing errors would go unnoticed. Values are not shown.
    package static func warnings(environment: [String: String]) -> [String] {
        let known = Variable.all.map(\.name) + Variable.all.filter(\.isSecret).map(\.fileName)
        return environment.keys.sorted()
            .filter { $0.utf8.starts(with: "MERGANSER_".utf8) && !known.contains($0) && !Variable.isForeign($0) }
            .map { name in
                let nearest = known.map { (name: $0, distance: distance($0, name)) }.min { $0.distance < $1.distance }
                guard let nearest, nearest.distance <= 3 else {
                    return "\(name) is not a variable of this version and is ignored; unset it"
                }
                return "\(name) is not a variable of this version and is ignored; did you mean \(nearest.name)?"
            }
    }
}

/// The Levenshtein distance: how many bytes to insert, delete or replace.
private func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right.utf8)
    var row = Array(0...right.count)
    for (line, byte) in left.utf8.enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for column in right.indices {
            let replaced = diagonal + (byte == right[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}
