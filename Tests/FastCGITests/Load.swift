import Glibc
import Synchronization
import TestSupport
import Threads

/// Clients that post without pause, each on its own connection, and check every answer.
final class Load: Sendable {
    struct Result {
        var answers = 0
        /// Every answer that is not 200 with the posted body, and every failed connection.
        var failures: [String] = []
        /// How many answers each instance gave, by its process id.
        var answersByInstance: [String: Int] = [:]

        func answers(of instance: ChildProcess) -> Int { answersByInstance[String(instance.pid)] ?? 0 }
    }

    private let state = Monitor(Result())
    private let isStopped = Atomic(false)
    private let threads = Monitor<[Thread]>([])

    private static let filling = noise(8_192)

    /// - Parameter pause: between two requests of a client, in microseconds.
    init(port: UInt16, path: String = "/", clients: Int, pause: UInt32 = 0) {
        threads.withLock { threads in
            for client in 0..<clients {
                threads.append(Thread { self.run(port, path, client, pause) })
            }
        }
    }

    /// The result so far.
    var result: Result { state.withLock { $0 } }

    /// Returns after the requests under way are answered.
    func stop() -> Result {
        isStopped.store(true, ordering: .relaxed)
        for thread in threads.withLock({ $0 }) { thread.join() }
        return result
    }

    private func run(_ port: UInt16, _ path: String, _ client: Int, _ pause: UInt32) {
        var connection: HTTPConnection?
        var number = 0
        while !isStopped.load(ordering: .relaxed) {
            number += 1
            let body = Array("\(client)/\(number) ".utf8) + Load.filling.prefix(number % 3 * 4_096)
            do {
                let open = try connection ?? HTTPConnection(port: port)
                connection = open
                let answer = try open.ask("POST", path, body: body)
                state.withLock { state in
                    state.answers += 1
                    state.answersByInstance[answer.header("x-instance") ?? "-", default: 0] += 1
                    if answer.status != 200 || answer.body != body {
                        state.failures.append("\(client)/\(number): \(answer.status)")
                    }
                }
                // nginx has had as many requests on this connection as it allows.
                if answer.header("connection") == "close" { connection = nil }
            } catch {
                connection = nil
                state.withLock { $0.failures.append("\(client)/\(number): \(error)") }
            }
            if pause > 0 { usleep(pause) }
        }
    }
}
