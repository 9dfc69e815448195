import Analytics
import HTTP
import JSON

private struct AttributionReply: Encodable {
    @Nullable var attributed: Bool?
    var pending: Bool
    var retryAfterSeconds: Int?
    var properties: JSONValue
}

/// `POST /v1/identity/attribution/:source` (analytics §7). No row is locked during the request to the ad network.
@Sendable func submitAttribution(_ call: Call, _ key: APIKey) throws -> Response {
    let (fields, source) = (try call.fields(), call.arguments[0])
    guard source.utf8.elementsEqual("apple-search-ads".utf8) else {
        throw Refusal.invalid("Unknown attribution source: \(source)")
    }
    let userID = try fields.endUserID("user_id")
    guard let token = fields["attribution_token"]?.string else {
        throw Refusal.invalid("attribution_token is required")
    }
    try userID.check(field: "user_id")
    let app = try key.liveApp()

    switch try call.attribution(token, mock: fields["dev_mock"]?.string, for: app.id) {
    case .pending:
        return .json(.ok, AttributionReply(attributed: nil, pending: true, retryAfterSeconds: 3600, properties: [:]))
    case .resolved(let isAttributed, let properties):
        try call.analytics.store(properties, of: userID, in: app.project.id, call.database)
        let object = JSONObject(properties.map { ($0.key, .string($0.value)) })
        return .json(.ok, AttributionReply(attributed: isAttributed, pending: false, properties: .object(object)))
    }
}

extension Call {
    /// - Parameter mock: the outcome that a test asks for; used only in development.
    fileprivate func attribution(_ token: String, mock: String?, for app: App.ID) throws -> Attribution {
        if analytics.settings.isDevelopment, let attribution = mock.flatMap(Attribution.init(mock:)) {
            return attribution
        }
        if token.isEmpty {
            throw Refusal.rejected("Attribution token rejected by upstream", reason: "empty token")
        }
        let settings = analytics.settings
        let network = AdNetwork(endpoint: settings.attributionEndpoint, timeout: settings.attributionTimeout)
        guard let attribution = try waitOutside(for: app, { try network.resolve(token) }) else {
            throw Refusal.temporarilyUnavailable
        }
        return attribution
    }
}
