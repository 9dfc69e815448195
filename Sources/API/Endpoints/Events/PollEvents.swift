import Accounts
import Database
import HTTP
import JSON

/// `GET /api/v1/events` (accounts §3.6): what happened to the application's people since a cursor.
@Sendable func pollEvents(_ call: Call, _ application: Application) throws -> Response {
    let query = call.queryParameters
    let types = query.comparable("event_type")?.split(separator: ",").map(String.init) ?? []
    let poll = EventPoll(
        since: query["since"], limit: try query.pageLimit() ?? EventPoll.defaultLimit,
        types: types.isEmpty ? nil : Set(types))
    let page = try call.database.read { try call.accounts.pollEvents(poll, of: application, $0) }
    return Response(.ok, headers: [HeaderField("Content-Type", "application/json")], body: body(of: page))
}

/// `{"events":[…],"next_cursor":"…","has_more":false}`. An event is its stored envelope, byte for byte, with `seq` as one
/// more member: it sorts behind the others.
private func body(of page: EventPage) -> [UInt8] {
    var body = Array(#"{"events":["#.utf8)
    body.reserveCapacity(page.events.reduce(100) { $0 + $1.payload.count + 30 })
    for (index, event) in page.events.enumerated() {
        if index > 0 { body.append(UInt8(ascii: ",")) }
        body += event.payload.dropLast()
        body += ",\"seq\":\(event.seq)}".utf8
    }
    body += #"],"next_cursor":"#.utf8
    body += (page.nextCursor.map(JSONValue.string) ?? .null).json()
    body += #","has_more":\#(page.hasMore)}"#.utf8
    return body
}
