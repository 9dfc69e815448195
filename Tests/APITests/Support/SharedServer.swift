import Glibc
import HTTP
import Synchronization
import TestSupport
import Testing
import Text
import Time

/// One nginx and one `merganserd`, on one schema, for all tests of this process that come through nginx.
final class SharedServer: Sendable {
    var url: String { front.url }
    var database: TestDatabase { installation.database }

    private let server: ChildProcess
    private let front: Front
    private let installation: Installation
    private let blocks = Atomic(0)

    private static let shared = Mutex<Result<SharedServer, any Error>?>(nil)

    /// Starts it for the first test that needs it.
    static func running() throws -> SharedServer {
        try shared.withLock { server in
            if let server { return try server.get() }
            let started = Result { try SharedServer() }
            server = started
            // Globals are never deinitialized.
            atexit { SharedServer.shared.withLock { $0 = nil } }
            return try started.get()
        }
    }

    private init() throws {
        front = try Front()
        installation = try Installation([
            "MERGANSER_ISSUER": front.url,
            "MERGANSER_ERROR_DOCS_BASE": "\(TestApp.issuer)/oauth/errors",
            "MERGANSER_SERVER_KEY": TestApp.serverKeyBytes.hexadecimal,
            "MERGANSER_SOCKET": front.run.file("merganser.sock"),
        ])
        try TestApp(database: installation.database, time: TestClock(Clock.system.now)).addSigningKey()
        server = try installation.readyServer()
    }

    /// - Returns: the first of a thousand numbers that no other test gets.
    func takeNumbers() -> Int { blocks.add(1, ordering: .relaxed).newValue * 1000 }

    /// Over a connection of its own: nginx closes one after some refusals.
    func respond(to request: Request) -> Response {
        do {
            let target = encoded(request.path) + (request.query.isEmpty ? "" : "?\(request.query)")
            let answer = try front.connect().ask(
                request.method.rawValue, target, headers: request.headers.fields.map { ($0.name, $0.value) },
                body: request.body.collect(limit: .max - 1))
            return Response(
                Status(answer.status), headers: answer.headers.map { HeaderField($0.name, $0.value) },
                body: answer.body)
        } catch {
            Issue.record(error)
            return Response(.badGateway)
        }
    }

    /// A path as nginx decodes it again.
    private func encoded(_ path: String) -> String {
        path.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isKept = byte < 0x80 && (character.isLetter || character.isNumber || "/-._~".contains(character))
            return isKept ? String(character) : "%" + [byte].hexadecimal
        }.joined()
    }
}
