import Database
import Fetch
import MariaDB
import Time

/// The messages of one kind in a dispatcher, from their lease to the record of what became of them.
///
/// Each lane has room of its own, and a fault of one does not stop another.
protocol Lane: AnyObject {
    var kind: DeliveryKind { get }
    /// When it has something to do for which nobody else wakes the dispatcher.
    var nextStep: ContinuousClock.Instant { get }
    /// Whether nothing is under way, and every outcome is recorded.
    var isIdle: Bool { get }
    /// How many attempts have ended.
    var attempts: Int { get }

    /// Makes it look for due messages at its next step.
    func wake()
    /// Records outcomes, and claims and sends due messages, as far as it is time for that.
    ///
    /// - Returns: whether it was time for anything.
    func work() throws -> Bool
    /// The same without claiming anything.
    func record() throws -> Bool
    /// Takes the result of a request.
    func finish(_ number: Int, _ completion: TransferPool<LaneKey>.Completion)
    /// Gives back requests that were abandoned.
    func release(_ numbers: [Int]) throws
}

/// Which request of which lane.
struct LaneKey: Hashable, Sendable {
    let lane: DeliveryKind
    let number: Int
}

/// What the lanes of a dispatcher share.
struct DispatcherParts {
    let accounts: Accounts
    let database: Database
    let options: Dispatcher.Options
    let statistics: DeliveryStatistics
    let pool: TransferPool<LaneKey>

    func write<Result>(_ rule: (AccountsTransaction) throws -> Result) throws -> Result {
        try Accounts.write(database, at: accounts.clock, from: .dispatcher, rule)
    }
}

extension Origin {
    fileprivate static let dispatcher = Origin(requestID: "dispatcher", address: "")
}

final class DeliveryLane<Message: Delivery>: Lane {
    /// How many messages to one target may be under way.
    private static var perTarget: Int { 2 }

    private let parts: DispatcherParts
    /// How many messages may be under way.
    private let places: Int
    private var lastNumber = 0
    private var underWay: [Int: Message] = [:]
    /// The outcomes that are not recorded yet.
    private var outcomes: [AttemptOutcome<Message>] = []
    /// What was sent, but failed by this process's fault.
    private var returned: [Message] = []
    /// When each target that has due messages was last chosen; larger is later.
    private var turns: [Message.Target: Int] = [:]
    private var lastTurn = 0
    private var nextLook = ContinuousClock.now
    private var nextRecord = ContinuousClock.now
    private(set) var attempts = 0

    init(_ parts: DispatcherParts, places: Int) {
        self.parts = parts
        self.places = places
    }

    var kind: DeliveryKind { Message.kind }
    var isIdle: Bool { underWay.isEmpty && !hasOutcomes }
    var nextStep: ContinuousClock.Instant { hasOutcomes ? nextRecord : nextLook }
    private var hasOutcomes: Bool { !outcomes.isEmpty || !returned.isEmpty }

    func wake() { nextLook = .now }

    func work() throws -> Bool {
        let hasRecorded = try record()
        // While outcomes cannot be recorded, nothing is claimed.
        guard !hasOutcomes, nextLook <= .now else { return hasRecorded }
        try look()
        return true
    }

    // MARK: Claiming and sending

    private func look() throws {
        // Also if it fails.
        nextLook = .now + parts.options.lookInterval
        guard underWay.count < places else { return }
        let (time, due) = try parts.database.read { connection in
            let time = try parts.options.time(connection)
            return (time, try Message.dueTargets(connection, at: time, of: parts.accounts))
        }
        let chosen = choose(due)
        if chosen.isEmpty { return }
        let messages = try parts.write { transaction in
            try Message.claim(for: chosen, at: time, of: parts.accounts, in: transaction)
        }
        for message in messages { send(message) }
    }

    /// Receivers that fail get half of the room at most, since each of their attempts may take the whole time.
    private func choose(_ due: [DueTarget<Message.Target>]) -> [(target: DueTarget<Message.Target>, count: Int)] {
        var room = places - underWay.count
        var roomForFailing = places / 2 - underWay.values.count(where: \.isFailing)
        var counts: [Message.Target: Int] = [:]
        for message in underWay.values { counts[message.target, default: 0] += 1 }
        var chosen: [(target: DueTarget<Message.Target>, count: Int)] = []
        for target in byTurn(due) where room > 0 {
            let (limit, free) = target.isFailing ? (1, min(room, roomForFailing)) : (Self.perTarget, room)
            let count = min(limit - counts[target.id, default: 0], free)
            guard count > 0 else { continue }
            chosen.append((target, count))
            room -= count
            if target.isFailing { roomForFailing -= count }
            lastTurn += 1
            turns[target.id] = lastTurn
        }
        return chosen
    }

    /// Those first that were not chosen for longest, but before those that wait for replays only. Otherwise slow receivers
    /// with old messages would keep the room for as long as they have any.
    private func byTurn(_ due: [DueTarget<Message.Target>]) -> [DueTarget<Message.Target>] {
        let targets = due.map { (target: $0, turn: turns[$0.id, default: 0]) }
        turns = Dictionary(uniqueKeysWithValues: targets.map { ($0.target.id, $0.turn) })
        let sorted = targets.enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            return (one.target.hasOnlyReplays ? 1 : 0, one.turn, first.offset)
                < (other.target.hasOnlyReplays ? 1 : 0, other.turn, second.offset)
        }
        return sorted.map(\.element.target)
    }

    private func send(_ message: Message) {
        guard let request = message.request() else { return end(AttemptOutcome(message, failure: .unsigned)) }
        let allowsLoopbackHTTP = parts.options.transfer.allowsLoopbackHTTP
        guard let url = try? OutboundURL(message.url, allowsLoopbackHTTP: allowsLoopbackHTTP) else {
            return end(AttemptOutcome(message, failure: .forbidden))
        }
        lastNumber += 1
        underWay[lastNumber] = message
        parts.pool.post(
            url, headers: request.headers, body: request.body, as: LaneKey(lane: kind, number: lastNumber))
    }

    // MARK: Outcomes

    func finish(_ number: Int, _ completion: TransferPool<LaneKey>.Completion) {
        guard let message = underWay.removeValue(forKey: number) else { return }
        do {
            end(AttemptOutcome(message, try completion.result.get(), duration: completion.duration))
        } catch {
            if completion.isCallersFault { return returned.append(message) }
            end(AttemptOutcome(message, failure: DeliveryFailure(error), duration: completion.duration))
        }
    }

    private func end(_ outcome: AttemptOutcome<Message>) {
        outcomes.append(outcome)
        attempts += 1
    }

    /// - Throws: what the database refuses. If it may take the outcomes later, they are kept; otherwise they are dropped,
    ///   and the messages are sent again when their leases end.
    func record() throws -> Bool {
        guard hasOutcomes, nextRecord <= .now else { return false }
        // If it fails, it is tried again after a while.
        nextRecord = .now + parts.options.lookInterval
        try keepingForLater(&returned) { messages in
            try release(messages)
        }
        try keepingForLater(&outcomes) { outcomes in
            let recorded = try parts.write { transaction in
                try Message.record(outcomes, at: parts.options.time(transaction.connection), in: transaction)
            }
            parts.statistics.count(outcomes, recorded)
        }
        nextRecord = .now
        // What has ended makes room.
        nextLook = .now
        return true
    }

    /// Empties a list by a function of its elements, unless a transaction failed that may succeed later.
    private func keepingForLater<Element>(_ list: inout [Element], _ write: ([Element]) throws -> Void) throws {
        if list.isEmpty { return }
        let elements = list
        list = []
        do {
            try write(elements)
        } catch let failure as TransactionFailure {
            list = elements
            throw failure
        }
    }

    func release(_ numbers: [Int]) throws {
        let messages = numbers.compactMap { underWay.removeValue(forKey: $0) } + returned
        returned = []
        if !messages.isEmpty { try release(messages) }
    }

    private func release(_ messages: [Message]) throws {
        try parts.write { transaction in
            try Message.release(messages, at: parts.options.time(transaction.connection), in: transaction)
        }
    }
}
