public import Foundation

/// The server's receipt for feedback.
public struct FeedbackReceipt: Hashable, Sendable {
    /// Names it in the server's lists.
    public let id: String
    /// When the server took it.
    public let created: Date
}

extension AnalyticsReporter {
    /// Sends what the user wrote, with the present session, user and device (analytics §10). It is not kept for later.
    ///
    /// - Parameters:
    ///   - message: 1 to 4000 characters without the white space around it.
    ///   - name: what the user calls themselves.
    ///   - email: where an answer would reach them.
    /// - Throws: `emptyMessage`, `offline`, `refused`, for instance if the address is none.
    @discardableResult
    public func sendFeedback(
        _ message: String, name: String? = nil, email: String? = nil
    ) async throws(AnalyticsError) -> FeedbackReceipt {
        func trimmed(_ text: String?) -> String? {
            let text = text?.trimmingCharacters(in: .whitespacesAndNewlines)
            return text?.isEmpty == false ? text : nil
        }
        guard let text = trimmed(message) else { throw .emptyMessage }
        let (name, email) = (trimmed(name), trimmed(email))
        var object = submission()
        object.member("message", text)
        object.member("submitter_name", name)
        object.member("submitter_email", email)
        struct Reply: Decodable {
            var id: String
            var created_at: String
        }
        // Once: the server cannot tell a repetition from a second message.
        let reply = try await answer(
            to: .init(path: "/v1/feedback", body: object.end()), as: Reply.self, attempts: 1)
        track(
            "sdk:feedback_submitted",
            attributes: ["has_email": email == nil ? "false" : "true", "has_name": name == nil ? "false" : "true"])
        return FeedbackReceipt(id: reply.id, created: Self.date(reply.created_at))
    }

    /// What feedback and answers say of the app, the user and the device.
    func submission() -> JSONText {
        let context = intake.context
        var object = JSONText()
        object.member("bundle_id", config.bundleID)
        object.member("session_id", context.sessionID)
        object.member("user_id", context.userID)
        object.member("app_version", config.device.appVersion)
        object.member("sdk_name", SDK.name)
        object.member("sdk_version", SDK.version)
        object.member("environment", config.device.environment.rawValue)
        object.member("device_model", config.device.deviceModel)
        object.member("os_version", config.device.osVersion)
        object.member("is_dev", config.isDevelopment)
        return object
    }

    /// Sends until the server has decided.
    ///
    /// - Throws: `offline`, `refused`.
    func answer<Reply: Decodable & Sendable>(
        to request: AnalyticsServer.Request, as type: Reply.Type, attempts: Int = 5
    ) async throws(AnalyticsError) -> Reply {
        let backoff = Backoff(base: config.backoff.base, longest: .seconds(30), attempts: attempts)
        var attempt = 1
        while true {
            switch await server.send(request) {
            case .done(let body):
                guard let reply = try? JSONDecoder().decode(type, from: body) else { throw .offline }
                return reply
            case .refused(let status, let body):
                throw .refused(status: status, message: AnalyticsServer.message(body))
            case .undecided(_, let retryAfter):
                guard let wait = backoff.wait(after: attempt, asked: retryAfter),
                    (try? await config.clock.sleep(for: wait)) != nil
                else { throw .offline }
                attempt += 1
            }
        }
    }

    /// The server's `2025-01-15T10:30:00.000Z`; now if it is another.
    static func date(_ text: String) -> Date {
        (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))) ?? Date()
    }
}
