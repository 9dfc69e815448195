internal import Foundation

/// What an ad network said about an install.
public enum Attribution: Hashable, Sendable {
    /// The properties that the server set, `attribution_source` among them.
    case known([String: String])
    /// The network does not know yet; it is asked again at a later launch.
    case pending
    /// The network refused the token, or did not know after five launches.
    case none
}

extension AnalyticsReporter {
    private static let network = "apple-search-ads"
    /// What the server says if the network takes the token for none (analytics §7).
    private static let refusal = "Attribution token rejected by upstream"
    /// After so many launches the network is not asked again.
    private static let patience = 5

    /// Hands a token of Apple Search Ads over to the server, which asks Apple (analytics §7).
    ///
    /// Apps need not call it: the library does, once for each install, unless `capturesAttribution` is false.
    ///
    /// - Throws: `offline`, `refused`, for instance since the key may not; the token is handed over again at the next launch.
    @discardableResult
    public func handOverAttribution(token: String) async throws(AnalyticsError) -> Attribution {
        struct Reply: Decodable {
            var pending: Bool
            var properties: [String: String]
        }
        let anonymousID = anonymousID
        var object = JSONText()
        object.member("user_id", userID)
        object.member("attribution_token", token)
        let reply: Reply
        do throws(AnalyticsError) {
            reply = try await answer(
                to: .init(path: "/v1/identity/attribution/\(Self.network)", body: object.end()), as: Reply.self)
        } catch {
            // Of the network, not of the key or the app.
            guard case .refused(status: 400, message: Self.refusal) = error else {
                tell("transport_failure", level: .error)
                throw error
            }
            // The network gives an install the same token each time.
            await note(anonymousID) { $0.isDone = true }
            tell("invalid_token", level: .warn)
            return .none
        }
        guard reply.pending else {
            await note(anonymousID) { $0.isDone = true }
            tell(
                "success", level: .info,
                ["_attribution_source": reply.properties["attribution_source"] ?? "unknown"])
            return .known(reply.properties)
        }
        let attempt = (await journal.state.attribution[anonymousID]?.pending ?? 0) + 1
        await note(anonymousID) { $0.pending = attempt }
        guard attempt >= Self.patience else {
            tell("pending", level: .info, ["_attempt": "\(attempt)", "_max_attempts": "\(Self.patience)"])
            return .pending
        }
        tell("gave_up", level: .warn, ["_attempts": "\(attempt)"])
        update(["attribution_source": "none"])
        await note(anonymousID) { $0.isDone = true }
        return .none
    }

    /// Hands the system's token over, unless that was done for this install.
    func captureAttribution() async {
        guard await journal.state.attribution[anonymousID]?.isDone != true else { return }
        guard let token = attributionToken(), !token.isEmpty else { return }
        _ = try? await handOverAttribution(token: token)
    }

    private func note(
        _ anonymousID: String, _ change: @escaping @Sendable (inout SavedState.AttributionProgress) -> Void
    ) async {
        await journal.update { change(&$0.attribution[anonymousID, default: .init()]) }
    }

    private func tell(_ outcome: String, level: EventLevel, _ attributes: [String: String?] = [:]) {
        track(
            "sdk:attribution_capture", level: level,
            attributes: attributes.merging(["_network": Self.network, "_outcome": outcome]) { $1 })
    }
}
