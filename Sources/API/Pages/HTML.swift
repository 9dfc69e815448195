/// A piece of an HTML page. What a literal says is markup; what is interpolated is text, and is escaped.
///
/// The literals are `StaticString`s, so that text known only at run time cannot become markup. An attribute's value
/// stands in double quotes.
struct HTML: ExpressibleByStringInterpolation, Equatable, Sendable {
    private(set) var markup: String

    static let empty: HTML = ""

    init(stringLiteral literal: StaticString) { markup = literal.description }

    init(stringInterpolation interpolation: StringInterpolation) { markup = interpolation.markup }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: StaticString) { markup += literal.description }

        mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": markup += "&amp;"
                case "<": markup += "&lt;"
                case ">": markup += "&gt;"
                case "\"": markup += "&quot;"
                case "'": markup += "&#39;"
                default: markup.unicodeScalars.append(scalar)
                }
            }
        }

        mutating func appendInterpolation(_ html: HTML) { markup += html.markup }

        /// Nothing for what is absent.
        mutating func appendInterpolation(_ html: HTML?) { markup += html?.markup ?? "" }

        /// The pieces one after another.
        mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { markup += piece.markup }
        }
    }
}
