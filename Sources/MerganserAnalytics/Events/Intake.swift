import MerganserClient

/// What callers handed over and the journal has not taken yet, in order, behind a lock.
///
/// The journal takes all of it at once by exchanging one buffer for another, so that a caller never waits for copying,
/// allocation or the disk. When the buffer is full, new events are lost, and counted.
final class Intake: Sendable {
    /// What has to be written down besides events.
    enum Note: Sendable {
        /// Somebody signed in; events under the anonymous id are theirs.
        case signedIn(userID: String, anonymousID: String)
        /// Nobody is signed in. A new anonymous id, if there is one.
        case signedOut(anonymousID: String?)
        /// Properties of a user; an empty value removes one.
        case properties(userID: String, [String: String])
    }

    struct Taken: Sendable {
        var events: ContiguousArray<PendingEvent>
        var notes: [Note]
        /// Events that found the buffer full.
        var lost: Int
    }

    private struct State: Sendable {
        var events: ContiguousArray<PendingEvent>
        var notes: [Note] = []
        var lost = 0
        var anonymousID: String
        var context: EventContext
    }

    /// How many events wait at most.
    static let capacity = 2048

    private let state: Locked<State>

    init(anonymousID: String, context: EventContext) {
        state = Locked(State(events: Self.buffer(), anonymousID: anonymousID, context: context))
    }

    /// An empty buffer of full size: growing one would copy it under the lock.
    static func buffer() -> ContiguousArray<PendingEvent> {
        var events = ContiguousArray<PendingEvent>()
        events.reserveCapacity(capacity)
        return events
    }

    var context: EventContext { state.withLock { $0.context } }
    var anonymousID: String { state.withLock { $0.anonymousID } }

    /// - Returns: whether the journal has to be told: the buffer is half full now.
    func push(
        _ message: String, _ level: EventLevel, screen: String?, attributes: [String: String?],
        attachments: [EventAttachment], milliseconds: Int64, source: SourceLocation
    ) -> Bool {
        state.withLock { state in
            guard state.events.count < Self.capacity else {
                state.lost += 1
                return false
            }
            state.events.append(
                PendingEvent(
                    message: message, level: level, screen: screen, attributes: attributes, attachments: attachments,
                    milliseconds: milliseconds, source: source, context: state.context))
            return state.events.count == Self.capacity / 2
        }
    }

    func signIn(_ userID: String) {
        state.withLock {
            $0.context = $0.context.with(userID: userID)
            $0.notes.append(.signedIn(userID: userID, anonymousID: $0.anonymousID))
        }
    }

    func signOut(anonymousID: String?) {
        state.withLock {
            if let anonymousID { $0.anonymousID = anonymousID }
            $0.context = $0.context.with(userID: $0.anonymousID)
            $0.notes.append(.signedOut(anonymousID: anonymousID))
        }
    }

    func update(_ properties: [String: String]) {
        state.withLock { $0.notes.append(.properties(userID: $0.context.userID, properties)) }
    }

    func connect(_ connection: Connection) {
        state.withLock { $0.context = $0.context.with(connection: connection) }
    }

    /// - Parameter buffer: an empty one, which callers fill from now on.
    func take(leaving buffer: ContiguousArray<PendingEvent>) -> Taken {
        state.withLock {
            let taken = Taken(events: $0.events, notes: $0.notes, lost: $0.lost)
            $0.events = buffer
            $0.notes = []
            $0.lost = 0
            return taken
        }
    }
}
