import FastCGI
import Glibc
import HTTP
import Synchronization
import TestSupport

/// A server with one worker that runs until the process ends. Its handler records each request and echoes it.
enum FuzzedResponder {
    /// The parts of a request that the handler sees, byte for byte.
    struct Handled: Equatable, Sendable {
        var method: [UInt8]
        var path: [UInt8]
        var query: [UInt8] = []
        var remoteAddress: [UInt8] = []
        var requestID: [UInt8]?
        var headers: [Header] = []
        /// The part of the body that the handler has read.
        var body: [UInt8] = []

        struct Header: Equatable, Sendable {
            var name: [UInt8]
            var value: [UInt8]
        }
    }

    /// The path says how much of the body the handler reads.
    enum Reading {
        case all, oneByte, nothing

        init(path: [UInt8]) {
            self = path == Array("/unread".utf8) ? .nothing : path == Array("/part".utf8) ? .oneByte : .all
        }
    }

    /// Where to connect.
    static let path = Result { try start() }

    /// The requests since it was last emptied.
    static let handled = Mutex<[Handled]>([])

    /// Each header field of the request comes back under this name, and the body unchanged.
    static let echoField = "X-Echo"

    private static func start() throws -> String {
        let directory = try TemporaryDirectory()
        let file = directory.file("socket")
        let socket = try ListeningSocket.prepare(path: file)
        let server = try Server(socket: socket, options: Server.Options(threads: 1)) { answer }
        try server.start()
        try socket.publish()
        // The socket outlives its name, so that none is left behind however the process ends.
        let handle = open(file, openPath | O_CLOEXEC)
        guard handle >= 0 else { throw Violation("\(file) cannot be opened") }
        return "/proc/self/fd/\(handle)"
    }

    /// O_PATH of open(2), declared under _GNU_SOURCE only.
    private static let openPath: Int32 = 0o10_000_000

    private static func answer(_ request: Request) -> Response {
        var handled = Handled(method: Array(request.method.rawValue.utf8), path: Array(request.path.utf8))
        handled.query = Array(request.query.utf8)
        handled.remoteAddress = Array(request.remoteAddress.utf8)
        handled.requestID = request.requestID.map { Array($0.utf8) }
        handled.headers = request.headers.fields.map { field in
            Handled.Header(name: Array(field.name.utf8), value: Array(field.value.utf8))
        }
        do throws(BodyError) {
            handled.body =
                switch Reading(path: handled.path) {
                case .all: try wholeBody(of: request)
                case .oneByte: try request.body.read(atMost: 1)
                case .nothing: []
                }
        } catch .tooLarge {
            // nginx kept it back.
        } catch {
            return Response(.badRequest)
        }
        let headers = request.headers.fields.map { HeaderField(echoField, $0.value) }
        self.handled.withLock { $0.append(handled) }
        return Response(.ok, headers: headers, body: handled.body)
    }

    /// Reads the body even if the announced length is one that `collect` would refuse.
    private static func wholeBody(of request: Request) throws(BodyError) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let part = try request.body.read(atMost: 65_536)
            if part.isEmpty { return body }
            body += part
        }
    }
}
