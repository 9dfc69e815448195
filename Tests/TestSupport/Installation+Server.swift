import Glibc
package import JSON

extension Installation {
    /// Sends a request to a server over a new connection.
    package func ask(
        _ method: String = "GET", _ path: String, headers: [(String, String)] = [], body: String? = nil,
        at socket: String = "fastcgi.sock"
    ) throws -> FastCGIClient.Answer {
        let client = try FastCGIClient(directory.file(socket))
        let answer = try client.ask(method, path, headers: headers, body: body.map { Array($0.utf8) }, keep: false)
        guard let answer else { throw TestSupportError("no answer to \(method) \(path)") }
        return answer
    }

    /// Sends a request to the control socket; nil if there is none.
    package func control(_ path: String, of socket: String = "control.sock") throws -> (status: Int, body: JSONValue)? {
        guard exists(socket) else { return nil }
        let answer = try ask("GET", path, at: socket)
        return (answer.status, try JSONValue(json: answer.body))
    }

    /// The names of the checks that `/readyz` reports as failed; empty if ready, nil if there is no control socket.
    package func missing(of socket: String = "control.sock") throws -> [String]? {
        try control("/readyz", of: socket)?.body["missing"]?.array?.compactMap { $0["check"]?.string }
    }

    /// A server that serves.
    package func readyServer(setting variables: [String: String] = [:], socket: Int32? = nil) throws -> ChildProcess {
        let server = try server(setting: variables, socket: socket)
        let path = variables["MERGANSER_CONTROL_SOCKET"] ?? directory.file("control.sock")
        let name = String(path.split(separator: "/").last ?? "")
        try server.wait(for: "readiness") { try server.logged("serving") && missing(of: name) == [] }
        return server
    }

    package func exists(_ name: String) -> Bool { access(directory.file(name), F_OK) == 0 }

    /// Registers a phone; its PAK and device secret.
    package func bootstrap(_ uuid: String, at socket: String = "fastcgi.sock") throws -> (pak: String, secret: String) {
        let answer = try ask(
            "POST", "/api/v1/devices", body: #"{"device_uuid":"\#(uuid)","platform":"ios"}"#, at: socket)
        let body = try JSONValue(json: answer.body)
        guard let pak = body["access_token"]?.string, let secret = body["device_secret"]?.string else {
            throw TestSupportError("\(answer.status) \(body)")
        }
        return (pak, secret)
    }
}

extension ChildProcess {
    /// The server's log. Every line is JSON.
    package var log: [JSONValue] {
        get throws { try errorOutput.split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) } }
    }

    package func logged(_ message: String) throws -> Bool { try log.contains { $0["message"]?.string == message } }
}
