import Analytics
import HTTP
import JSON

private struct IngestReply: Encodable {
    var accepted: Int
    var rejected: Int
    /// Both are present only if there are any.
    var errors: [RejectedEvent]?
    var duplicates: Int?

    init(_ outcome: IngestOutcome) {
        accepted = outcome.accepted
        rejected = outcome.rejected.count
        errors = outcome.rejected.isEmpty ? nil : outcome.rejected
        duplicates = outcome.duplicates == 0 ? nil : outcome.duplicates
    }
}

/// `POST /v1/ingest` (analytics §8).
@Sendable func ingestEvents(_ call: Call, _ proof: KeyProof) throws -> Response {
    let key = proof.key
    let fields = try call.batchFields()
    let batch = try EventBatch(fields?.member("events"))
    let app = try key.ingestApp()
    try app.check(bundleID: fields?["bundle_id"]?.string)
    let source = EventSource(key: key.id, app: app, country: call.country(for: app))
    return .json(.ok, IngestReply(try call.analytics.ingest(batch, from: source, proof, call.database)))
}
