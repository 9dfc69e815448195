import Time

/// What the thread of a queue does: finds the devices, sends, and tries again.
struct PushWork {
    /// The most notifications that are under way at once.
    private static let places = 100
    private static let firstWait = Duration.seconds(1)
    private static let longestWait = Duration.seconds(30)
    /// How long one look at what is under way takes.
    private static let look = Duration.milliseconds(50)

    /// One notification for one device, or for devices that are not known yet.
    private struct Attempt {
        let notification: PushNotification
        /// Which of those that were taken it belongs to.
        let job: Int
        let target: Target
        var tries = 0
        var dueAt = ContinuousClock.now
        /// In which step it was last known where it goes.
        var step = 0
    }

    private enum Target {
        case user(Int64)
        case device(PushToken, of: Int64)
    }

    private let settings: PushSettings
    private let clock: Clock
    private let directory: any PushDirectory
    private let note: (PushQueue.Outcome, String?) -> Void
    /// Nil until the first is made; it may not be possible.
    private var sender: (any PushSender)?
    private var waiting: [Attempt] = []
    private var underWay: [Int: Attempt] = [:]
    private var lastKey = 0
    private var lastJob = 0
    private var steps = 0

    init(
        _ settings: PushSettings, _ clock: Clock, _ directory: any PushDirectory,
        _ note: @escaping (PushQueue.Outcome, String?) -> Void
    ) {
        self.settings = settings
        self.clock = clock
        self.directory = directory
        self.note = note
    }

    /// How many of the notifications that were taken are not finished at all their devices.
    var count: Int { Set(waiting.map(\.job)).union(underWay.values.map(\.job)).count }

    /// How long nothing is to be done; nil: for ever.
    var pause: Duration? {
        if !underWay.isEmpty { return .zero }
        return waiting.map(\.dueAt).min().map { max(.zero, $0 - .now) }
    }

    func rest() { directory.rest() }

    mutating func take(_ jobs: [PushJob]) {
        for job in jobs {
            lastJob += 1
            waiting.append(Attempt(notification: job.notification, job: lastJob, target: .user(job.user)))
        }
    }

    /// - Parameter isLast: whether nothing is tried another time.
    mutating func step(isLast: Bool) {
        steps += 1
        beginDue(isLast)
        guard let sender, !underWay.isEmpty else { return }
        for (key, outcome) in sender.poll(atMost: Self.look) {
            if let attempt = underWay.removeValue(forKey: key) { end(attempt, outcome) }
        }
    }

    private mutating func beginDue(_ isLast: Bool) {
        let all = waiting
        waiting = []
        var free = Self.places - underWay.count
        for attempt in all {
            if attempt.notification.expiresAt <= clock.now {
                note(.expired, "it waited too long")
            } else if attempt.dueAt > .now || free <= 0 {
                if isLast, attempt.tries > 0 {
                    note(.dropped, "the instance stopped before it was tried again")
                } else {
                    waiting.append(attempt)
                }
            } else {
                free -= 1
                begin(attempt)
            }
        }
    }

    private mutating func begin(_ attempt: Attempt) {
        switch attempt.target {
        case .user(let user):
            do {
                // They wait for a place, like everybody's.
                waiting += try directory.tokens(of: user).map {
                    Attempt(
                        notification: attempt.notification, job: attempt.job, target: .device($0, of: user),
                        step: steps)
                }
            } catch {
                tryAgain(attempt, after: nil, "\(error)")
            }
        case .device(let token, let user):
            do {
                // While it waited, the token may have gone, or be another person's by now.
                if steps > attempt.step + 1, try !directory.tokens(of: user).contains(token) { return }
                let sender = try self.sender ?? settings.makeSender(at: clock)
                self.sender = sender
                lastKey += 1
                underWay[lastKey] = attempt
                sender.send(attempt.notification, to: token, as: lastKey)
            } catch {
                tryAgain(attempt, after: nil, "\(error)")
            }
        }
    }

    private mutating func end(_ attempt: Attempt, _ outcome: PushOutcome) {
        switch outcome {
        case .sent: note(.sent, nil)
        case .failed(let reason): note(.failed, reason)
        case .skipped: break
        case .retry(let wait, let reason): tryAgain(attempt, after: wait, reason)
        case .unregistered(let time):
            note(.unregistered, nil)
            guard case .device(let token, _) = attempt.target else { return }
            do {
                try directory.forget(token, goneSince: time)
            } catch {
                // The next notification finds out again.
                note(.failed, "the token of a device without the app could not be removed: \(error)")
            }
        }
    }

    /// - Parameter wait: nil: longer each time.
    private mutating func tryAgain(_ attempt: Attempt, after wait: Duration?, _ reason: String) {
        var attempt = attempt
        let wait = wait ?? min(Self.firstWait * (1 << min(attempt.tries, 5)), Self.longestWait)
        attempt.tries += 1
        guard clock.now + wait < attempt.notification.expiresAt else { return note(.expired, reason) }
        attempt.dueAt = .now + wait
        waiting.append(attempt)
    }
}
