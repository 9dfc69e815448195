import Analytics
import HTTP
import JSON

private struct ImportReply: Encodable {
    var accepted: Int
    var rejected: Int
    /// Present if there are any.
    var errors: [RejectedEvent]?
    var updated: Int

    init(_ outcome: ImportOutcome) {
        accepted = outcome.accepted
        rejected = outcome.rejected.count
        errors = outcome.rejected.isEmpty ? nil : outcome.rejected
        updated = outcome.updated
    }
}

/// `POST /v1/import` (analytics §9).
@Sendable func importEvents(_ call: Call, _ key: APIKey) throws -> Response {
    let fields = try call.batchFields()
    guard key.kind == .import else {
        throw Refusal.forbidden("This endpoint requires an import API key (owl_import_*)")
    }
    let batch = try EventBatch(fields?.member("events"), isImport: true)
    let source = EventSource(key: key.id, app: try key.ingestApp(), country: nil)
    return .json(.ok, ImportReply(try call.analytics.importEvents(batch, from: source, call.database)))
}
