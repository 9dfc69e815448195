import Fetch
import Foundation
import TestSupport

/// nginx with `nginx/loopback.conf`, as `make run` starts it, in a folder of its own.
struct LoopbackFront {
    /// Holds logs, sockets and keys: what `.run` is for `make run`.
    let run: TemporaryDirectory
    private let nginx: Nginx

    /// - Parameter adapting: changes the configuration's text before nginx reads it.
    init(adapting: (String) -> String = { $0 }) throws {
        let run = try TemporaryDirectory()
        for folder in ["keys", "logs", "nginx"] { try run.makeDirectory(folder) }
        let text = adapting(try shipped("loopback.conf"))
        nginx = try Nginx(links: ["merganser": shippedIncludes]) { port in
            text.replacingOccurrences(of: "@RUN@", with: run.path)
                .replacingOccurrences(of: "@SOCKETS@", with: run.path)
                .replacingOccurrences(of: "@PORT@", with: String(port))
        }
        self.run = run
    }

    var url: String { nginx.url }
    var accessLog: String { run.text("logs/nginx-access.log") }

    func get(_ path: String, headers: [(String, String)] = []) throws -> Fetcher.Response {
        try fetcher.get(url + path, headers: headers)
    }

    func post(_ path: String, headers: [(String, String)] = [], size: Int = 2) throws -> Fetcher.Response {
        try fetcher.post(url + path, headers: headers, body: Array(repeating: UInt8(ascii: "x"), count: size))
    }

    /// Ends nginx in good order, so that its logs are complete.
    func stop() throws { try nginx.stop() }

    private var fetcher: Fetcher {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        return Fetcher(options)
    }
}

let shippedIncludes = Repository.root + "/nginx/merganser"

/// A configuration's text, without the lines that the tests' nginx gets from its command line.
func shipped(_ name: String) throws -> String {
    try String(contentsOfFile: Repository.root + "/nginx/" + name, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("user ") && !$0.hasPrefix("pid ") }
        .joined(separator: "\n")
}

extension Fetcher.Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}
