import FastCGI
import Foundation
import HTTP

// A responder that tells what it was asked, for the tests of the accept loop.
//
//     fastcgi-echo --socket PATH | --inherited   [--threads N] [--receive-timeout SECONDS] [--drain-limit SECONDS]
//
// /late/MS answers late, /large/BYTES answers at length, /unread answers without reading the body. It writes "ready" once
// it serves, and on SIGTERM drains and writes how many requests it served and how many connections it cut.

@main struct Echo {
    static func main() throws {
        blockAllSignals()
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        let socket =
            if let path = arguments["--socket"] { try ListeningSocket.prepare(path: path) } else {
                try ListeningSocket.inherited()
            }
        guard let socket else { throw CocoaError(.fileNoSuchFile) }
        var options = Server.Options(threads: arguments["--threads"].flatMap { Int($0) } ?? 4)
        if let seconds = arguments["--receive-timeout"].flatMap({ Int($0) }) {
            options.receiveTimeout = .seconds(seconds)
        }
        if let seconds = arguments["--drain-limit"].flatMap({ Int($0) }) { options.drainLimit = .seconds(seconds) }
        let server = try Server(socket: socket, options: options) { answer }
        try server.start()
        try socket.publish()
        report("ready")
        while waitForSignal() != .terminate {}
        let result = server.drain()
        report("drained requests=\(result.requests) cut=\(result.cut) aborted=\(server.statistics.aborted)")
    }

    private static func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    @Sendable private static func answer(_ request: Request) -> Response {
        let parts = request.path.split(separator: "/")
        switch (parts.first, parts.dropFirst().first.flatMap { Int($0) }) {
        case ("late", let milliseconds?): Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        case ("large", let bytes?): return Response(.ok, body: Array(repeating: UInt8(ascii: "x"), count: bytes))
        case ("unread", _): return Response(.payloadTooLarge, body: Array("too large".utf8))
        default: break
        }
        do {
            let body = try request.body.collect(limit: 1_000_000)
            let digest = body.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
            let text = """
                \(request.method.rawValue) \(request.path)?\(request.query)
                body=\(body.count) fnv1a=\(digest)
                authorization=\(request.headers.count(of: "authorization")) \
                x-echo=\(request.headers.first("x-echo") ?? "-") remote=\(request.remoteAddress) \
                request-id=\(request.requestID ?? "-")

                """
            return Response(
                .ok, headers: [Response.Field("Content-Type", "text/plain")], body: Array(text.utf8))
        } catch {
            return Response(.badRequest, body: Array("\(error)".utf8))
        }
    }
}

/// `--name value` pairs.
private struct Arguments {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst() { values[name] = name == "--inherited" ? "" : rest.popFirst() }
    }

    subscript(name: String) -> String? { values[name] }
}
