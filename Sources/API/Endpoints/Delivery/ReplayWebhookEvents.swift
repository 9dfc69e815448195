import Accounts
import Analytics
import HTTP
import JSON
import Time

private struct ReplayRequest: Decodable {
    var eventID: String?
    var since: String?
    var until: String?
    var dead: Bool?

    /// - Throws: `invalidRequest` unless it names exactly one kind of events, and times that are times.
    var events: ReplayedEvents {
        get throws {
            switch (eventID, dead ?? false, since != nil || until != nil) {
            case (let id?, false, false): return .one(eventID: id)
            case (nil, true, false): return .dead
            case (nil, false, true): return .written(since: try since.map(time), until: try until.map(time))
            default: throw Failure.invalidRequest
            }
        }
    }

    private func time(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(iso8601: text) else { throw Failure.invalidRequest }
        return time
    }
}

/// `POST /api/v1/applications/{client_id}/webhook_replay` (accounts §3.4).
@Sendable func replayWebhookEvents(_ call: Call, _ developer: Developer) throws -> Response {
    let events = try call.decode(ReplayRequest.self).events
    return try call.commit { transaction in
        .json(
            .ok,
            [
                "replayed": try call.accounts.replayEvents(
                    events, of: call.arguments[0], by: developer.caller, in: transaction)
            ])
    }
}
