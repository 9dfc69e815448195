import Fetch
import Foundation
import TestSupport
import Testing

/// Slow clients of a server with four workers.
@Suite struct SlowClientTests {
    private let bytes = [UInt8](repeating: 0x62, count: 100_000)

    /// As many bodies as workers, which never arrive. A request that waited behind them would be refused.
    @Test func bodiesThatNobodyReadsHoldNoWorker() throws {
        let front = try Front()
        let scene = try AttachmentScene(behind: front)
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let path = "/v1/ingest/attachment/018f3f1c-0000-7000-8000-000000000000"
        for method in ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT"] {
            for length in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
                let slow = try (0..<4).map { _ in
                    let connection = try front.connect()
                    try connection.send(
                        Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n\r\n1".utf8))
                    return connection
                }
                // Who has no key is told so before the body has come.
                if method == "PUT" { for client in slow { #expect(try client.receiveAnswer().status == 401) } }
                #expect(try front.get("/api/v1/me").status == 401, "\(method) \(length)")
                withExtendedLifetime(slow) {}
            }
        }
        for method in ["GET", "POST", "DELETE"] {
            let answer = try front.connect().ask(method, path, body: bytes)
            #expect(answer.status == 405 && answer.header("allow") == "PUT")
        }
    }

    /// The upload neither pauses for long nor ends.
    @Test func anUploadThatIsTooSlowIsAnsweredMeanwhile() throws {
        let front = try Front()
        let scene = try AttachmentScene(behind: front, ["MERGANSER_UPLOAD_PATIENCE_SECONDS": "1"])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let id = try scene.reserve(bytes)
        let slow = try begin(front, id, scene.key)
        var sent = 1000
        while sent < bytes.count, !slow.hasInput(within: .milliseconds(20)) {
            try slow.send([bytes[sent]])
            sent += 1
        }
        let answer = try slow.receiveAnswer()
        #expect(answer.status == 408)
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"code":"upload_too_slow","message":"Upload was slower than 8192 bytes per second"}"#)
        #expect(try scene.stagedSizes().isEmpty)
        // The reservation is kept. The other server has the patience to read the whole on a busy machine.
        server.terminate()
        try server.waitForExit()
        let next = try scene.installation.readyServer(setting: ["MERGANSER_UPLOAD_PATIENCE_SECONDS": "60"])
        defer { withExtendedLifetime(next) {} }
        let path = "/v1/ingest/attachment/\(id)"
        #expect(try front.connect().ask("PUT", path, headers: scene.uploadHeaders, body: bytes).status == 200)
        try scene.expectNoRowWithoutItsBytes(uploaded: 1)
    }

    /// A client may send forever without sending any of its body. nginx then has nothing to pass on, and does not end
    /// the request.
    @Test(arguments: ["5;", "5;a=\"", "0", "5\r\nabcde\r\n0\r\nTrailer: "])
    func anUploadInChunksThatNeverComeIsAnsweredWhenThePatienceEnds(beginning: String) throws {
        let front = try Front()
        let scene = try AttachmentScene(behind: front, ["MERGANSER_UPLOAD_PATIENCE_SECONDS": "1"])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let slow = try begin(front, try scene.reserve(bytes), scene.key, in: "Transfer-Encoding: chunked", beginning)
        while !slow.hasInput(within: .milliseconds(20)) { try slow.send(Array("0".utf8)) }
        #expect(try slow.receiveAnswer().status == 408)
        #expect(try scene.stagedSizes().isEmpty)
    }

    /// The uploads come from different networks.
    @Test func oneAppsUploadsLeaveRoomForAnothers() throws {
        let front = try Front(.production)
        let scene = try AttachmentScene(behind: front, ["MERGANSER_ATTRIBUTION_ENDPOINT": "http://127.0.0.1:1/"])
        let server = try scene.installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let ids = try (0..<3).map { _ in try scene.reserve(bytes) }
        let slow = try (0..<2).map { try begin(front, ids[$0], scene.key, from: "198.51.100.\($0)") }
        try server.wait(for: "two uploads") { try scene.stagedSizes().count == 2 }
        #expect(try begin(front, ids[2], scene.key, from: "198.51.100.2").receiveAnswer().status == 503)

        let other = try scene.otherKey()
        let id = try scene.reserve(bytes, key: other)
        let answer = try front.connect().ask(
            "PUT", "/v1/ingest/attachment/\(id)",
            headers: AttachmentScene.uploadHeaders(other) + [("X-Forwarded-For", "198.51.100.9")], body: bytes)
        #expect(answer.status == 200)
        let attribution = try front.connect().ask(
            "POST", "/v1/identity/attribution/apple-search-ads",
            headers: [("Authorization", "Bearer \(other)"), ("Content-Type", "application/json")],
            body: Array(#"{"user_id":"u","attribution_token":"t"}"#.utf8))
        // The network is asked, and nobody listens there.
        #expect(attribution.status == 502)
        for client in slow {
            try client.send(Array(bytes[1000...]))
            #expect(try client.receiveAnswer().status == 200)
        }
    }

    /// An upload whose first thousand bytes are sent.
    private func begin(
        _ front: Front, _ id: String, _ key: String, from address: String = "192.0.2.1"
    ) throws -> HTTPConnection {
        let connection = try begin(front, id, key, from: address, in: "Content-Length: \(bytes.count)", "")
        try connection.send(Array(bytes.prefix(1000)))
        return connection
    }

    /// - Parameters:
    ///   - framing: a field that says how the body ends.
    ///   - beginning: of the body.
    private func begin(
        _ front: Front, _ id: String, _ key: String, from address: String = "192.0.2.1", in framing: String,
        _ beginning: String
    ) throws -> HTTPConnection {
        let connection = try front.connect()
        let fields = AttachmentScene.uploadHeaders(key) + [("Host", "localhost"), ("X-Forwarded-For", address)]
        let head =
            "PUT /v1/ingest/attachment/\(id) HTTP/1.1\r\n" + fields.map { "\($0.0): \($0.1)\r\n" }.joined()
            + "\(framing)\r\n\r\n"
        try connection.send(Array((head + beginning).utf8))
        return connection
    }
}
