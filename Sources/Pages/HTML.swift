/// A piece of an HTML page. What a literal says is markup; what is interpolated is text, and is escaped.
///
/// The literals are `StaticString`s, so that text known only at run time cannot become markup. An attribute's value
/// stands in double quotes.
package struct HTML: ExpressibleByStringInterpolation, Equatable, Sendable {
    package private(set) var markup: String

    package static let empty: HTML = ""

    package init(stringLiteral literal: StaticString) { markup = literal.description }

    package init(stringInterpolation interpolation: StringInterpolation) { markup = interpolation.markup }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { markup += literal.description }

        package mutating func appendInterpolation(_ text: String) {
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

        package mutating func appendInterpolation(_ number: Int) { markup += String(number) }

        package mutating func appendInterpolation(_ html: HTML) { markup += html.markup }

        /// Nothing for what is absent.
        package mutating func appendInterpolation(_ html: HTML?) { markup += html?.markup ?? "" }

        /// The pieces one after another.
        package mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { markup += piece.markup }
        }
    }
}
