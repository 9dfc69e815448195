/// Why a text is not the JSON value asked for. Never holds a value from the text.
package enum JSONError: Error, Equatable, Sendable {
    /// Not JSON (RFC 8259), or not UTF-8.
    case malformed(offset: Int)
    /// More than 64 levels of arrays and objects.
    case tooDeep(offset: Int)
    /// The value at `path` (`merge_options.rps[0]`, empty for the whole text) has another type than `expected`.
    case wrongType(path: String, expected: String)
    /// A required member is absent or `null`.
    case missing(path: String)
    /// What must be exact has an escape that is half of a surrogate pair.
    case loneSurrogate(path: String)
    /// What is compared has too many combining marks in a row.
    case combiningMarks(path: String)
    /// The type decoded into refused the value.
    case refused(path: String, reason: String)

    /// What a type's own `init(from:)` threw.
    init(_ error: any Error) {
        let context =
            switch error as? DecodingError {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            default: DecodingError.Context(codingPath: [], debugDescription: "refused")
            }
        self = .refused(path: pathText(context.codingPath), reason: context.debugDescription)
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String {
        func at(_ path: String) -> String { path.isEmpty ? "the whole text" : path }
        return switch self {
        case .malformed(let offset): "malformed JSON at byte \(offset)"
        case .tooDeep(let offset): "JSON nested more than \(Document.maximumDepth) levels at byte \(offset)"
        case .wrongType(let path, let expected): "\(at(path)) must be \(expected)"
        case .missing(let path): "\(at(path)) is missing"
        case .loneSurrogate(let path): "\(at(path)) has a lone surrogate"
        case .combiningMarks(let path): "\(at(path)) has more than 30 combining marks in a row"
        case .refused(let path, let reason): "\(at(path)): \(reason)"
        }
    }
}

func pathText(_ path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
        }
    }
}
