import Foundation
import MerganserClient

/// Tells the server what the journal has: events, claims, properties, in this order, and then the files of events, which no event
/// waits for.
///
/// A failure ends a round; the next one waits with back-off, for as long as the server asks. What the server refuses is
/// reported and forgotten, so that nothing waits behind it, unless it refuses the key.
actor Uploader {
    private let journal: Journal
    private let server: AnalyticsServer
    private let bundleID: String?
    private let clock: any DeviceClock
    private let eventClock: EventClock
    private let backoff: Backoff
    /// From an event until it is sent, so that those which follow go with it.
    private let delay: Duration
    private let report: @Sendable (EventLoss) -> Void

    /// What has rounds of its own.
    private enum Kind {
        /// And claims and properties.
        case events
        /// Attachments: a large one on a slow network takes an hour, or fails for weeks.
        case files
    }

    private struct Rounds {
        var failures = 0
        /// Of the device's clock: no round by itself before.
        var restUntil: Duration = .zero
        /// Of the device's clock: no round at all before, as the server asked.
        var askedUntil: Duration = .zero
        var scheduled: Task<Void, Never>?
        var underWay: Task<Outcome, Never>?
    }

    private enum Outcome {
        case done
        /// Events are left that cannot be read now. No file waits for them.
        case unread
        case failed
    }

    private var rounds: [Kind: Rounds] = [:]
    private var isKeyRefused = false

    init(
        _ journal: Journal, server: AnalyticsServer, bundleID: String?, delay: Duration, backoff: Backoff,
        clock: any DeviceClock, eventClock: EventClock, report: @escaping @Sendable (EventLoss) -> Void
    ) {
        (self.journal, self.server, self.bundleID, self.clock) = (journal, server, bundleID, clock)
        (self.delay, self.backoff, self.eventClock, self.report) = (delay, backoff, eventClock, report)
    }

    /// Says that there is something to send, soon.
    func schedule() { schedule(.events, in: delay) }

    private func schedule(_ kind: Kind, in delay: Duration) {
        guard rounds[kind]?.scheduled == nil else { return }
        let wait = max(delay, (rounds[kind]?.restUntil ?? .zero) - clock.uptime)
        rounds[kind, default: Rounds()].scheduled = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: wait)) != nil else { return }
            await self?.sendScheduled(kind)
        }
    }

    /// Sends everything now, unless the server asked for patience.
    ///
    /// - Returns: whether nothing waits any more of what was in the journal.
    func flush() async -> Bool {
        var isDone = true
        for kind in [Kind.events, .files] {
            // A round under way may have passed what the caller just wrote.
            if let round = rounds[kind]?.underWay { _ = await round.value }
            let outcome = isAskedToWait(kind) ? .failed : await startRound(of: kind)
            guard outcome != .done else { continue }
            // Whoever asked has taken the events that would have scheduled the next round.
            schedule(kind, in: delay)
            isDone = false
            if outcome == .failed { break }
        }
        return isDone
    }

    private func sendScheduled(_ kind: Kind) async {
        rounds[kind]?.scheduled = nil
        // Since this round was planned, another one may have failed.
        let outcome = isResting(kind) ? .failed : await startRound(of: kind)
        if outcome != .done { schedule(kind, in: delay) }
        if outcome != .failed, kind == .events { schedule(.files, in: .zero) }
    }

    private func isResting(_ kind: Kind) -> Bool { rounds[kind].map { $0.restUntil > clock.uptime } ?? false }
    private func isAskedToWait(_ kind: Kind) -> Bool { rounds[kind].map { $0.askedUntil > clock.uptime } ?? false }

    private func startRound(of kind: Kind) async -> Outcome {
        if let round = rounds[kind]?.underWay { return await round.value }
        let round = Task { await self.sendAll(kind) }
        rounds[kind, default: Rounds()].underWay = round
        return await round.value
    }

    /// Why a round ended early.
    private struct Undecided: Error {
        var retryAfter: Duration?
    }

    private func sendAll(_ kind: Kind) async -> Outcome {
        var new = rounds[kind] ?? Rounds()
        var (outcome, asked) = (Outcome.done, Duration.zero)
        do throws(Undecided) {
            switch kind {
            case .events:
                if try await !sendEvents() { outcome = .unread }
                try await sendClaims()
                try await sendProperties()
            case .files: try await sendAttachments()
            }
        } catch {
            // A day is the longest patience: the server may be another one by then.
            (outcome, asked) = (.failed, min(error.retryAfter ?? .zero, .seconds(86_400)))
        }
        if outcome == .done {
            (new.failures, new.restUntil) = (0, .zero)
        } else {
            new.failures += 1
            new.askedUntil = max(new.askedUntil, clock.uptime + asked)
            new.restUntil = new.askedUntil + (backoff.wait(after: new.failures, asked: nil) ?? backoff.longest)
        }
        // Before whoever waits for this round goes on.
        rounds[kind]?.failures = new.failures
        rounds[kind]?.restUntil = new.restUntil
        rounds[kind]?.askedUntil = new.askedUntil
        rounds[kind]?.underWay = nil
        return outcome
    }

    private func decided(_ request: AnalyticsServer.Request) async throws(Undecided) -> (status: Int, body: Data) {
        switch await server.send(request) {
        case .done(let body):
            isKeyRefused = false
            return (200, body)
        case .refused(401, let body):
            // A key that has leaked is exchanged, by an update of the app. What waits goes with the new one.
            if !isKeyRefused { report(.refused(events: 0, status: 401, message: AnalyticsServer.message(body))) }
            isKeyRefused = true
            throw Undecided(retryAfter: nil)
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

    /// What the server refuses, and forgets.
    private struct RefusedEvents {
        var loss: EventLoss
        /// Of the only one in its batch, which the server names; nil if it refuses more.
        var index: Int?
    }

    /// - Returns: false if there are more, which cannot be read now.
    private func sendEvents() async throws(Undecided) -> Bool {
        // Those whose time was corrected, as they were and as they are: a second correction might have no end.
        var corrected: Set<ArraySlice<UInt8>> = []
        while true {
            let next: EventQueue.Batch?
            do {
                next = try await journal.nextBatch()
            } catch {
                return false
            }
            guard let batch = next else { return true }
            let refused = try await send(batch.records[...])
            var records = batch.records
            for index in refused.compactMap(\.index) where !corrected.contains(records[index]) {
                let event = records[index]
                guard let time = EventEncoder.milliseconds(of: event).flatMap(eventClock.corrected) else { continue }
                records[index] = EventEncoder.event(event, at: time)
                corrected.formUnion([event, records[index]])
            }
            if records == batch.records {
                for events in refused { report(events.loss) }
                await journal.remove(batch)
            } else {
                // Written down before it is sent: with another time it would be another event (analytics §8.3). The rest of the
                // batch goes with it once more, and is stored once.
                guard await journal.replace(batch, with: records) else { throw Undecided(retryAfter: nil) }
            }
        }
    }

    /// - Parameter events: of a batch, with its indices.
    private func send(_ events: ArraySlice<ArraySlice<UInt8>>) async throws(Undecided) -> [RefusedEvents] {
        let request = AnalyticsServer.Request(
            path: "/v1/ingest", body: IngestRequest.body(Array(events), bundleID: bundleID))
        let (status, body) = try await decided(request)
        guard status == 200 else {
            // Of a body that cannot be read or is too large, a part may do.
            if [400, 413].contains(status), Self.isAboutTheBody(body), events.count > 1 {
                let half = events.startIndex + events.count / 2
                return try await send(events[..<half]) + send(events[half...])
            }
            let message = AnalyticsServer.message(body)
            return [RefusedEvents(loss: .refused(events: events.count, status: status, message: message))]
        }
        guard let reply = try? JSONDecoder().decode(IngestReply.self, from: body) else {
            throw Undecided(retryAfter: nil)
        }
        return (reply.errors ?? []).map { refusal in
            let index = events.startIndex + refusal.index
            return RefusedEvents(
                loss: .refused(events: 1, status: 200, message: refusal.message),
                index: events.indices.contains(index) ? index : nil)
        }
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
            let age = Duration.milliseconds(eventClock.certainMilliseconds - entry.added)
            let reason: String? =
                if age > EventQueue.Limits().age {
                    "It waited too long."
                } else if let file = box.file(name) {
                    try await send(file, entry, name)
                } else {
                    "Its bytes are gone."
                }
            if let reason { report(.attachment(name: entry.filename, reason: reason)) }
            box.remove(name)
        }
    }

    /// - Returns: why the server refuses it; nil if it has it.
    private func send(
        _ file: URL, _ entry: AttachmentBox.Entry, _ name: String
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
            .init(method: "PUT", path: "/v1/ingest/attachment/\(id)", file: file))
        switch status {
        // An answer was lost: the bytes are there (analytics §11.2).
        case 200, 409: return nil
        case 404 where !isFirst, 410 where !isFirst:
            // The reservation lapsed while the device was offline.
            var entry = entry
            entry.reservation = nil
            return try await send(file, entry, name)
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
