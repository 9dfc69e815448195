import Foundation
import MerganserClient

/// Tells the server what the journal has: events, claims, properties, attachments, in this order.
///
/// A failure ends a round; the next one waits with back-off, for as long as the server asks. What the server refuses is
/// reported and forgotten, so that nothing waits behind it.
actor Uploader {
    private let journal: Journal
    private let server: AnalyticsServer
    private let bundleID: String?
    private let clock: any DeviceClock
    private let backoff: Backoff
    /// From an event until it is sent, so that those which follow go with it.
    private let delay: Duration
    private let report: @Sendable (EventLoss) -> Void

    private var failures = 0
    /// Of the device's clock: no request by itself before, and none at all before the second.
    private var restUntil: Duration = .zero
    private var askedUntil: Duration = .zero
    private var scheduled: Task<Void, Never>?
    private var round: Task<Bool, Never>?

    init(
        _ journal: Journal, server: AnalyticsServer, bundleID: String?, delay: Duration, backoff: Backoff,
        clock: any DeviceClock, report: @escaping @Sendable (EventLoss) -> Void
    ) {
        (self.journal, self.server, self.bundleID, self.clock) = (journal, server, bundleID, clock)
        (self.delay, self.backoff, self.report) = (delay, backoff, report)
    }

    /// Says that there is something to send, soon.
    func schedule() {
        guard scheduled == nil else { return }
        let wait = max(delay, restUntil - clock.uptime)
        scheduled = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: wait)) != nil else { return }
            await self?.sendScheduled()
        }
    }

    /// Sends everything now, unless the server asked for patience.
    ///
    /// - Returns: whether the server has everything that was in the journal.
    func flush() async -> Bool {
        // A round under way may have passed what the caller just wrote.
        if let round { _ = await round.value }
        guard askedUntil <= clock.uptime else { return false }
        return await startRound()
    }

    private func sendScheduled() async {
        scheduled = nil
        let done = await startRound()
        if !done { schedule() }
    }

    private func startRound() async -> Bool {
        if let round { return await round.value }
        let round = Task { await self.sendAll() }
        self.round = round
        return await round.value
    }

    /// Why a round ended early.
    private struct Undecided: Error {
        var retryAfter: Duration?
    }

    private func sendAll() async -> Bool {
        // Before whoever waits for this round goes on.
        defer { round = nil }
        do throws(Undecided) {
            while let batch = await journal.nextBatch() {
                try await send(batch.records)
                await journal.remove(batch)
            }
            try await sendClaims()
            try await sendProperties()
            try await sendAttachments()
            failures = 0
            restUntil = .zero
            return true
        } catch {
            failures += 1
            // A day is the longest patience: the server may be another one by then.
            let asked = min(error.retryAfter ?? .zero, .seconds(86_400))
            askedUntil = clock.uptime + asked
            restUntil = askedUntil + (backoff.wait(after: failures, asked: nil) ?? backoff.longest)
            return false
        }
    }

    private func decided(_ request: AnalyticsServer.Request) async throws(Undecided) -> (status: Int, body: Data) {
        switch await server.send(request) {
        case .done(let body): return (200, body)
        case .refused(let status, let body): return (status, body)
        case .undecided(_, let retryAfter): throw Undecided(retryAfter: retryAfter)
        }
    }

    // MARK: Events

    private struct IngestReply: Decodable {
        struct Refusal: Decodable {
            var index: Int
            var message: String
        }

        var accepted: Int
        var rejected: Int
        var errors: [Refusal]?
    }

    private func send(_ events: [ArraySlice<UInt8>]) async throws(Undecided) {
        let request = AnalyticsServer.Request(
            path: "/v1/ingest", body: IngestRequest.body(events, bundleID: bundleID))
        let (status, body) = try await decided(request)
        guard status == 200 else {
            // Of a body that cannot be read or is too large, a part may do.
            if [400, 413].contains(status), Self.isAboutTheBody(body), events.count > 1 {
                try await send(Array(events.prefix(events.count / 2)))
                try await send(Array(events.dropFirst(events.count / 2)))
            } else {
                report(.refused(events: events.count, status: status, message: AnalyticsServer.message(body)))
            }
            return
        }
        guard let reply = try? JSONDecoder().decode(IngestReply.self, from: body) else {
            throw Undecided(retryAfter: nil)
        }
        for refusal in reply.errors ?? [] { report(.refused(events: 1, status: 200, message: refusal.message)) }
    }

    /// Shape C is the answer to a body that no handler has seen (analytics §2.3).
    private static func isAboutTheBody(_ body: Data) -> Bool {
        struct ShapeC: Decodable { var statusCode: Int }
        return (try? JSONDecoder().decode(ShapeC.self, from: body)) != nil
    }

    // MARK: Identity

    private func sendClaims() async throws(Undecided) {
        // After the events, so that one claim finds them all (analytics §5); later ones find their owner by themselves.
        for claim in await journal.state.claims {
            var object = JSONText()
            object.member("anonymous_id", claim.anonymousID)
            object.member("user_id", claim.userID)
            let (status, body) = try await decided(.init(path: "/v1/identity/claim", body: object.end()))
            if status != 200 { report(.refused(events: 1, status: status, message: AnalyticsServer.message(body))) }
            await journal.update { $0.claims.removeAll { $0 == claim } }
        }
    }

    private func sendProperties() async throws(Undecided) {
        for (user, properties) in await journal.state.properties.sorted(by: { $0.key < $1.key }) {
            var object = JSONText()
            object.member("user_id", user)
            object.member("properties", properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            let (status, body) = try await decided(.init(path: "/v1/identity/properties", body: object.end()))
            if status != 200 { report(.refused(events: 1, status: status, message: AnalyticsServer.message(body))) }
            await journal.remove(properties, of: user)
        }
    }

    // MARK: Attachments

    private func sendAttachments() async throws(Undecided) {
        let box = journal.attachments
        for name in box.names {
            guard let entry = box.entry(name) else { continue }
            let age = Duration.milliseconds(Int64(clock.date.timeIntervalSince1970 * 1000) - entry.added)
            let reason: String? =
                if age > EventQueue.Limits().age {
                    "It waited too long."
                } else if let content = box.content(name) {
                    try await send(content, entry, name)
                } else {
                    "Its bytes are gone."
                }
            if let reason { report(.attachment(name: entry.filename, reason: reason)) }
            box.remove(name)
        }
    }

    /// - Returns: why the server refuses it; nil if it has it.
    private func send(
        _ content: Data, _ entry: AttachmentBox.Entry, _ name: String
    ) async throws(Undecided) -> String? {
        let isFirst = entry.reservation == nil
        let id: String
        if let reservation = entry.reservation {
            id = reservation
        } else {
            switch try await reserve(entry) {
            case .success(let reservation): id = reservation
            case .failure(let refusal): return refusal.reason
            }
            // Without it a repetition reserves again; the server forgets the first after a day.
            try? journal.attachments.reserve(name, as: id)
        }
        // The path of our own base URL, not the one that the answer names: the key is for this server alone.
        let (status, body) = try await decided(
            .init(
                method: "PUT", path: "/v1/ingest/attachment/\(id)", body: [UInt8](content),
                contentType: "application/octet-stream", mayBeCompressed: false))
        switch status {
        // An answer was lost: the bytes are there (analytics §11.2).
        case 200, 409: return nil
        case 404 where !isFirst, 410 where !isFirst:
            // The reservation lapsed while the device was offline.
            var entry = entry
            entry.reservation = nil
            return try await send(content, entry, name)
        default: return AnalyticsServer.message(body)
        }
    }

    private struct Refusal: Error {
        var reason: String
    }

    private func reserve(_ entry: AttachmentBox.Entry) async throws(Undecided) -> Result<String, Refusal> {
        struct Reservation: Encodable {
            var client_event_id: String
            var user_id: String
            var original_filename: String
            var content_type: String
            var size_bytes: Int
            var sha256: String
            var is_dev: Bool
        }
        struct Reply: Decodable { var attachment_id: String }
        let reservation = Reservation(
            client_event_id: entry.clientEventID, user_id: entry.userID, original_filename: entry.filename,
            content_type: entry.contentType, size_bytes: entry.size, sha256: entry.sha256,
            is_dev: entry.isDevelopment)
        guard let object = try? JSONEncoder().encode(reservation) else { return .failure(Refusal(reason: "")) }
        let (status, body) = try await decided(.init(path: "/v1/ingest/attachment", body: [UInt8](object)))
        guard status == 200 else { return .failure(Refusal(reason: AnalyticsServer.message(body))) }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: body),
            reply.attachment_id.wholeMatch(of: /[0-9A-Fa-f-]{36}/) != nil
        else { throw Undecided(retryAfter: nil) }
        return .success(reply.attachment_id)
    }
}
