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
    /// What the disk has of it, and the changes that it has not taken, in order.
    private var saved: SavedState
    private var unsaved: [@Sendable (inout SavedState) -> Void] = []
    /// Empty; exchanged for the one that callers have filled.
    private var spare = Intake.buffer()

    /// - Throws: if the folder cannot be read.
    init(
        _ intake: Intake, state: SavedState, file: ReplacedFile, folder: URL, encoder: EventEncoder,
        limits: EventQueue.Limits, clock: EventClock, report: @escaping @Sendable (EventLoss) -> Void
    ) throws {
        (self.intake, self.encoder, self.file, self.clock) = (intake, encoder, file, clock)
        (self.state, saved, self.report) = (state, state, report)
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
        var files: [String] = []
        for event in taken.events {
            let id = UUID().uuidString
            records.append(encoder.encode(event, id: id))
            files += event.attachments.compactMap { keep($0, of: event, id: id) }
        }
        do {
            try queue.append(records, at: clock.milliseconds)
        } catch {
            report(.disk(events: records.count, reason: "\(error)"))
            for file in files { attachments.remove(file) }
        }
        taken.events.removeAll(keepingCapacity: true)
        spare = taken.events
        let notes = taken.notes
        if !notes.isEmpty {
            update { state in
                for note in notes { state.apply(note) }
            }
        }
        return !records.isEmpty || !notes.isEmpty
    }

    /// The same, and returns when it is on disk for good.
    func persist() {
        let count = unsaved.count
        drain()
        // A change would just have been tried with them.
        if count > 0, unsaved.count == count { save() }
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

    /// The next events to be sent; nil if there are none.
    ///
    /// - Throws: `FileFault`, which was reported, if they cannot be read now.
    func nextBatch() throws -> EventQueue.Batch? {
        do {
            return try queue.next(atMost: 100, bytes: 512 * 1024, at: clock.certainMilliseconds)
        } catch {
            report(.disk(events: 0, reason: "\(error)"))
            throw error
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

    /// Changes what is saved. If the disk does not take it, it holds for this process, and is saved with the next change or
    /// `persist`.
    func update(_ change: @escaping @Sendable (inout SavedState) -> Void) {
        change(&state)
        unsaved.append(change)
        // If the disk takes nothing for so long, what other processes change counts no more.
        if unsaved.count > 1000 { unsaved = [{ [state] in $0 = state }] }
        save()
    }

    private func save() {
        do {
            saved = try SavedState.update(file, from: saved) { [unsaved] saved in
                for change in unsaved { change(&saved) }
            }
            (state, unsaved) = (saved, [])
        } catch {
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

    /// - Returns: its name in the box; nil if it could not be kept.
    private func keep(_ attachment: EventAttachment, of event: PendingEvent, id: String) -> String? {
        do throws(EventLoss) {
            return try attachments.add(
                attachment, event: id, user: event.context.userID, isDevelopment: encoder.isDevelopment,
                at: clock.milliseconds, report)
        } catch {
            report(error)
            return nil
        }
    }
}
