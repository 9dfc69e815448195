import Accounts
import HTTP
import JSON

/// What dry runs and `If-Match` are on the wire, for a swap and for a merge (accounts §1.9, §3.1).
extension Call {
    /// `If-Match` (RFC 9110 §13.1.1) with a plan's name, quoted or not; `*` matches whatever the plan is.
    var planPrecondition: Precondition {
        guard let header = request.headers.first("if-match") else { return .none }
        let tags = header.split(separator: ",").map {
            $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        }
        if tags == ["*"] { return .none }
        return .plan(anyOf: tags.map { $0.filter { $0 != "\"" } })
    }
}

extension Response {
    /// A dry run's answer, with the plan's name as `ETag`.
    static func preview(_ reply: some Encodable, plan: String) -> Response {
        .json(.ok, reply, headers: [Field("ETag", "\"\(plan)\"")])
    }
}
