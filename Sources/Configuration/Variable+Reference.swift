extension Variable {
    /// The reference as plain text of at most 100 columns, for `merganserd --help`.
    package static var reference: String {
        all.map { variable in
            let name = variable.name + (variable.isSecret ? "[_FILE]" : "")
            return "  \(name)  (\(variable.form); \(variable.preset.words))\n" + wrapped(variable.help, indent: 6)
        }.joined(separator: "\n")
    }

    /// The same as a Markdown table, for docs/configuration.md.
    package static var markdownReference: String {
        let rows = all.map { variable in
            let name = "`\(variable.name)`" + (variable.isSecret ? ", `…_FILE`" : "")
            return "| \(name) | \(variable.form.replacingPipes) | \(variable.preset.cell) | \(variable.help) |"
        }
        return (["| variable | form | default | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}

extension Variable.Default {
    fileprivate var words: String {
        switch self {
        case .required: "required"
        case .none: "no default"
        case .text(let text): "default \(text)"
        case .computed(let words): "default \(words)"
        }
    }

    fileprivate var cell: String {
        switch self {
        case .required: "required"
        case .none: "–"
        case .text(let text): "`\(text)`"
        case .computed(let words): words
        }
    }
}

extension String {
    fileprivate var replacingPipes: String { split(separator: " | ").joined(separator: ", ") }
}

private func wrapped(_ text: String, indent: Int) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
        if lines[lines.count - 1].isEmpty {
            lines[lines.count - 1] = String(word)
        } else if lines[lines.count - 1].count + 1 + word.count <= 100 - indent {
            lines[lines.count - 1] += " \(word)"
        } else {
            lines.append(String(word))
        }
    }
    return lines.map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
}
