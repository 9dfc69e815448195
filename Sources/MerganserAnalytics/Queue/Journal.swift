import Foundation
import MerganserClient

/// Takes events from their callers to disk, and keeps what the server has yet to be told.
actor Journal {
    private let intake: Intake
    private let encoder: EventEncoder
    private let file: ReplacedFile
    private let clock: EventClock
    private let report: @Sendable (EventLoss) -> Void
    let attachments: AttachmentBox
    private var queue: EventQueue
    private(set) var state: SavedState
    /// Empty; exchanged for the one that callers have filled.
    private var spare = Intake.buffer()

    /// - Throws: if the folder cannot be read.
    init(
        _ intake: Intake, state: SavedState, file: ReplacedFile, folder: URL, encoder: EventEncoder,
        limits: EventQueue.Limits, clock: EventClock, report: @escaping @Sendable (EventLoss) -> Void
    ) throws {
        (self.intake, self.encoder, self.file, self.clock) = (intake, encoder, file, clock)
        (self.state, self.report) = (state, report)
        attachments = try AttachmentBox(folder: folder.appending(path: "attachments"))
        queue = try EventQueue(folder: folder.path, limits: limits, report: report)
    }

    /// Writes everything that callers handed over. They go on meanwhile.
    ///
    /// - Returns: whether there was anything.
    @discardableResult
    func drain() -> Bool {
        var taken = intake.take(leaving: spare)
        if taken.lost > 0 { report(.tooFast(events: taken.lost)) }
        var records: [[UInt8]] = []
        records.reserveCapacity(taken.events.count)
        for event in taken.events {
            let id = UUID().uuidString
            records.append(encoder.encode(event, id: id))
            for attachment in event.attachments { keep(attachment, of: event, id: id) }
        }
        do {
            try queue.append(records, at: clock.milliseconds)
        } catch {
            report(.disk(events: records.count, reason: "\(error)"))
        }
        taken.events.removeAll(keepingCapacity: true)
        spare = taken.events
        if !taken.notes.isEmpty {
            update { state in
                for note in taken.notes { state.apply(note) }
            }
        }
        return !records.isEmpty || !taken.notes.isEmpty
    }

    /// The same, and returns when it is on disk for good.
    func persist() {
        drain()
        do {
            try queue.synchronize()
        } catch {
            report(.disk(events: 0, reason: "\(error)"))
        }
    }

    /// Whether the server has yet to be told anything.
    var isEmpty: Bool {
        queue.size == 0 && state.claims.isEmpty && state.properties.isEmpty && attachments.names.isEmpty
    }

    /// Bytes of events.
    var size: Int { queue.size }

    /// The next events to be sent; nil if there are none, or none can be read now.
    func nextBatch() -> EventQueue.Batch? {
        do {
            return try queue.next(atMost: 100, bytes: 512 * 1024, at: clock.certainMilliseconds)
        } catch {
            report(.disk(events: 0, reason: "\(error)"))
            return nil
        }
    }

    /// Forgets what the server has, or has refused.
    func remove(_ batch: EventQueue.Batch) { queue.remove(batch) }

    /// Puts other events in the place of those, for good.
    ///
    /// - Returns: false if the disk does not take them now.
    func replace(_ batch: EventQueue.Batch, with records: [ArraySlice<UInt8>]) -> Bool {
        do {
            try queue.replace(batch, with: records)
            return true
        } catch {
            report(.disk(events: 0, reason: "\(error)"))
            return false
        }
    }

    /// Changes what is saved. If the disk does not take it, it holds for this process.
    func update(_ change: (inout SavedState) -> Void) {
        do {
            state = try SavedState.update(file, from: state, change)
        } catch {
            change(&state)
            report(.disk(events: 0, reason: "\(error)"))
        }
    }

    /// Forgets changes of properties that the server has, unless they were changed again.
    func remove(_ sent: [String: String], of user: String) {
        update { state in
            state.properties[user] = state.properties[user]?.filter { sent[$0.key] != $0.value }
            if state.properties[user]?.isEmpty == true { state.properties[user] = nil }
        }
    }

    private func keep(_ attachment: EventAttachment, of event: PendingEvent, id: String) {
        do throws(EventLoss) {
            let dropped = try attachments.add(
                attachment, event: id, user: event.context.userID, isDevelopment: encoder.isDevelopment,
                at: clock.milliseconds)
            for loss in dropped { report(loss) }
        } catch { report(error) }
    }
}
