package import Accounts
import HTTP
import JSON

/// What dry runs and `If-Match` are on the wire, for a swap and for a merge (accounts §1.9, §3.1).
extension Call {
    var planPrecondition: Precondition { request.headers.first("if-match").map(Precondition.init(ifMatch:)) ?? .none }
}

extension Precondition {
    /// `If-Match` (RFC 9110 §13.1.1) with names of plans, quoted or not; `*` matches whatever the plan is.
    package init(ifMatch header: String) {
        let tags = header.utf8.split(separator: UInt8(ascii: ",")).map { tag in
            tag.drop(while: Self.isSpace).prefix { !Self.isSpace($0) }
        }
        if tags.count == 1, tags[0].elementsEqual("*".utf8) {
            self = .none
        } else {
            self = .plan(anyOf: tags.map { String(decoding: $0.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self) })
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

extension Response {
    /// A dry run's answer, with the plan's name as `ETag`.
    static func preview(_ reply: some Encodable, plan: String) -> Response {
        .json(.ok, reply, headers: [HeaderField("ETag", "\"\(plan)\"")])
    }
}
