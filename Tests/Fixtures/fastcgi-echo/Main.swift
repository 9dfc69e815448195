import FastCGI
import Foundation
import HTTP
import Synchronization
import Threads

// A responder that answers with what it was asked, for the tests of the accept loop.
//
//     fastcgi-echo --socket PATH | --inherited
//                  [--threads N] [--receive-timeout MS] [--drain-limit MS] [--group GROUP]
//
// The answer's body is the request's; its fields tell the rest. By its path a request asks for something else:
//
//     /late/MS        the answer comes that much later
//     /large/BYTES    as many x
//     /stream/BYTES   as many x, one part after the other; /stream/BYTES/MORE announces as many more
//     /unread         413 without a look at the body
//     /part/BYTES     as much of the body as that, and the rest unread
//     /field/NAME/VALUE
//                     has that field besides
//     /waited         its body is how many milliseconds it waited for a worker
//     /afterwards?FIFO
//                     after the answer, reads the FIFO to its end, and writes a line
//     /gated/HOLDER   waits for its body with a permit of the SlowPeerGate, 503 without one
//     /paced/RATE/MS  408 when its body falls so far behind so many bytes a second
//
// On SIGTERM it drains and writes how that went.

@main struct Echo {
    static func main() throws {
        blockAllSignals()
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        do {
            try serve(arguments)
        } catch let error as FastCGIError {
            fail("\(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }

    private static func serve(_ arguments: Arguments) throws {
        guard let socket = try listeningSocket(arguments) else { fail("nothing was inherited") }
        var options = Server.Options(threads: arguments.number("--threads") ?? 4)
        if let time = arguments.number("--receive-timeout") { options.receiveTimeout = .milliseconds(time) }
        if let time = arguments.number("--drain-limit") { options.drainLimit = .milliseconds(time) }
        options.onFault = { report("fault: \($0)") }
        let gate = SlowPeerGate(workers: options.threads)
        let server = try Server(socket: socket, options: options) {
            { answer($0, gate) }
        }
        try server.start()
        try socket.publish()
        report("ready")
        ServiceManager.notify("READY=1")
        let interval = ServiceManager.watchdogInterval.map { $0 / 2 }
        while waitForSignal(atMost: interval) != .terminate { ServiceManager.notify("WATCHDOG=1") }
        ServiceManager.notify("STOPPING=1")
        report("draining")
        let result = server.drain()
        report("drained requests=\(result.requests) cut=\(result.cut) aborted=\(server.statistics.aborted)")
    }

    private static func listeningSocket(_ arguments: Arguments) throws -> ListeningSocket? {
        guard let path = arguments["--socket"] else { return try .inherited() }
        return try .prepare(path: path, group: arguments["--group"])
    }

    private static func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func answer(_ request: Request, _ gate: SlowPeerGate) -> Response {
        // nginx has a location of its own for /v1.
        let parts = Array(request.path.split(separator: "/").drop { $0 == "v1" })
        let number = parts.dropFirst().first.flatMap { Int($0) } ?? 0
        do {
            switch parts.first {
            case "late": Foundation.Thread.sleep(forTimeInterval: Double(number) / 1000)
            case "large": return echo(request, Array(repeating: UInt8(ascii: "x"), count: number))
            case "stream":
                let more = parts.dropFirst(2).first.flatMap { Int($0) } ?? 0
                return Response(.ok, stream: Letters(count: number, announcing: number + more))
            case "unread": return Response(.payloadTooLarge, body: Array("too large".utf8))
            case "part": return echo(request, try request.body.read(atMost: number))
            case "field" where parts.count == 3:
                return echo(request, [], besides: [HeaderField(String(parts[1]), String(parts[2]))])
            case "waited": return echo(request, Array("\(Int(request.waited / .milliseconds(1)))".utf8))
            case "afterwards":
                var response = echo(request, [])
                response.afterwards = { [fifo = request.query] in
                    _ = FileHandle(forReadingAtPath: fifo)?.readDataToEndOfFile()
                    report("afterwards")
                }
                return response
            case "gated":
                let holders = parts.dropFirst().map(String.init)
                let body = try gate.pass(for: holders) { () throws(BodyError) in
                    try request.body.collect(limit: 1 << 30)
                }
                return body.map { echo(request, $0) } ?? Response(.serviceUnavailable)
            case "paced":
                let patience = parts.dropFirst(2).first.flatMap { Int($0) } ?? 0
                var pace = Pace(leastRate: number, patience: .milliseconds(patience))
                var body: [UInt8] = []
                do throws(BodyError) {
                    while case let part = try request.body.read(atMost: 65_536, keeping: &pace), !part.isEmpty {
                        body += part
                    }
                } catch .tooSlow {
                    return echo(request, body, status: .requestTimeout)
                }
                return echo(request, body)
            default: break
            }
            return echo(request, try request.body.collect(limit: 1 << 30))
        } catch BodyError.tooLarge {
            return Response(.payloadTooLarge)
        } catch {
            // Nobody gets it: the body did not come.
            return Response(.badRequest)
        }
    }

    private static func echo(
        _ request: Request, _ body: [UInt8], status: Status = .ok, besides fields: [HeaderField] = []
    ) -> Response {
        var headers = [
            HeaderField("X-Instance", String(ProcessInfo.processInfo.processIdentifier)),
            HeaderField("X-Method", request.method.rawValue), HeaderField("X-Path", request.path),
            HeaderField("X-Query", request.query), HeaderField("X-Target", request.target),
            HeaderField("X-Remote", request.remoteAddress),
            HeaderField("X-Request-Id", request.requestID ?? "-"),
            HeaderField("X-Length", request.body.length.map { String($0) } ?? "-"),
        ]
        headers += fields + request.headers.fields.map { HeaderField("X-Echo-\($0.name)", $0.value) }
        return Response(status, headers: headers, body: body)
    }
}

/// So many x.
private final class Letters: ResponseStream {
    let length: Int
    private let rest: Mutex<Int>

    init(count: Int, announcing length: Int) {
        self.length = length
        rest = Mutex(count)
    }

    func read(atMost count: Int) -> [UInt8] {
        rest.withLock { rest in
            let part = min(rest, count)
            rest -= part
            return Array(repeating: UInt8(ascii: "x"), count: part)
        }
    }
}

/// `--name value` pairs; `--inherited` has no value.
private struct Arguments {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst() { values[name] = name == "--inherited" ? "" : rest.popFirst() }
    }

    subscript(name: String) -> String? { values[name] }

    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
}
