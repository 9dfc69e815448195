import Foundation
import TestSupport
import Testing

/// From parameters to a request, and from a response to an answer.
@Suite struct RequestTests {
    @Test func parametersBecomeARequest() throws {
        let fixture = try EchoFixture()
        let parameters: [(String, String)] = [
            ("REQUEST_METHOD", "PATCH"), ("DOCUMENT_URI", "/a b/ü"), ("REQUEST_URI", "/raw%20line?x"),
            ("QUERY_STRING", "q=1&r=%32"), ("REMOTE_ADDR", "2001:db8::1"), ("REQUEST_ID", "0123abcd"),
            ("CONTENT_TYPE", "application/json"), ("CONTENT_LENGTH", "2"),
            ("HTTP_CONTENT_TYPE", "application/json"), ("HTTP_CONTENT_LENGTH", "2"), ("HTTP_IF_MATCH", "\"v1\""),
            ("HTTP_X_DEVICE_UUID", ""), ("HTTP_AUTHORIZATION", "Bearer one"), ("HTTP_AUTHORIZATION", "Bearer two"),
            ("DOCUMENT_URI", "/second"), ("SERVER_NAME", "ignored"),
        ]
        let client = try fixture.server.connect()
        try client.send(
            FastCGIClient.beginRequest()
                + FastCGIClient.stream(FastCGIClient.RecordType.parameters, FastCGIClient.encode(parameters))
                + FastCGIClient.stream(FastCGIClient.RecordType.standardInput, Array("{}".utf8)))
        let answer = try #require(try client.receiveAnswer())
        #expect(answer.status == 200 && answer.body == Array("{}".utf8))
        let expected = [
            "X-Method: PATCH", "X-Path: /a b/ü", "X-Query: q=1&r=%32", "X-Target: /raw%20line?x",
            "X-Remote: 2001:db8::1",
            "X-Request-Id: 0123abcd", "X-Length: 2", "X-Echo-content-type: application/json",
            "X-Echo-content-length: 2", "X-Echo-if-match: \"v1\"", "X-Echo-x-device-uuid: ",
            "X-Echo-authorization: Bearer one", "X-Echo-authorization: Bearer two", "Content-Length: 2",
        ]
        #expect(answer.headers.dropFirst().map { "\($0.name): \($0.value)" } == expected)
    }

    @Test func theTimeInTheQueueIsMeasured() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        func waited(_ handedOnAt: String?) throws -> Int? {
            let headers = handedOnAt.map { [("HANDED_ON_AT", $0)] } ?? []
            let answer = try #require(try client.ask("GET", "/waited", headers: headers))
            return Int(String(decoding: answer.body, as: UTF8.self))
        }
        func now() -> Int { Int(Date.now.timeIntervalSince1970 * 1000) }
        // As nginx writes $msec: whole milliseconds, rounded down.
        func text(milliseconds: Int) -> String {
            String(format: "%d.%03d", locale: nil, milliseconds / 1000, milliseconds % 1000)
        }
        let handedOnAt = now() - 5000
        let answer = try #require(try waited(text(milliseconds: handedOnAt)))
        #expect((5000...now() - handedOnAt).contains(answer))
        // The clock was set back meanwhile.
        #expect(try waited(text(milliseconds: now() + 60_000)) == 0)
        #expect(try waited(nil) == 0)
        for text in ["", ".123", "1", "1.5", "1700000000.12x", "-170000000.123", "99999999999999999.999"] {
            #expect(try waited(text) == 0, "\(text)")
        }
    }

    /// What an answer leaves for later neither delays it nor shows in its time.
    @Test func theAnswerIsWrittenBeforeWhatComesAfterwards() throws {
        let fixture = try EchoFixture()
        let fifo = fixture.directory.file("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        let answer = try #require(
            try fixture.server.connect().ask("GET", "/afterwards", headers: [("QUERY_STRING", fifo)]))
        #expect(answer.status == 200)
        #expect(!fixture.server.process.output.contains("afterwards"))
        var writer: Int32 = -1
        try fixture.server.process.wait(for: "the FIFO's reader") {
            writer = open(fifo, O_WRONLY | O_NONBLOCK)
            return writer >= 0
        }
        close(writer)
        try fixture.server.wait(forLine: "afterwards")
    }

    @Test func longNamesAndValuesArrive() throws {
        let fixture = try EchoFixture()
        let name = "HTTP_" + String(repeating: "N", count: 200)
        let value = String(repeating: "v", count: 70_000)
        let answer = try #require(try fixture.server.connect().ask(headers: [(name, value)]))
        #expect(answer.header("X-Echo-" + name.dropFirst(5).lowercased()) == value)
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 1_000_000]) func aStreamIsSentInPartsWithItsLength(size: Int) throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        let answer = try #require(try client.ask("GET", "/stream/\(size)"))
        #expect(answer.header("Content-Length") == "\(size)")
        #expect(answer.body.count == size && answer.body.allSatisfy { $0 == UInt8(ascii: "x") })
        let head = try #require(try client.ask("HEAD", "/stream/\(size)"))
        #expect(head.header("Content-Length") == "\(size)" && head.body.isEmpty)
    }

    @Test func aStreamThatEndsEarlyEndsTheConnection() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        #expect(throws: TestSupportError.self) { try client.ask("GET", "/stream/100000/1") }
        try fixture.server.wait(forLine: "fault: an answer's stream failed, or does not have the announced length")
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    @Test func lineBreaksInValuesBeginNoField() throws {
        let fixture = try EchoFixture()
        let answer = try #require(try fixture.server.connect().ask(headers: [("HTTP_A", "1\r\nSet-Cookie: b\u{7}\tc")]))
        #expect(answer.header("X-Echo-a") == "1  Set-Cookie: b \tc")
        #expect(answer.header("Set-Cookie") == nil)
    }

    @Test(arguments: [
        ["DOCUMENT_URI", "/"], ["REQUEST_METHOD", "GET"],
        ["REQUEST_METHOD", "POST", "DOCUMENT_URI", "/", "CONTENT_LENGTH", "-1"],
        ["REQUEST_METHOD", "POST", "DOCUMENT_URI", "/", "CONTENT_LENGTH", "+0"],
        ["REQUEST_METHOD", "POST", "DOCUMENT_URI", "/", "CONTENT_LENGTH", "1e3"],
        ["REQUEST_METHOD", "POST", "DOCUMENT_URI", "/", "CONTENT_LENGTH", "99999999999999999999"],
        ["REQUEST_METHOD", "GET", "DOCUMENT_URI", "/", "NO\0NAME", "1"],
    ])
    func unusableParametersEndTheConnection(_ list: [String]) throws {
        let fixture = try EchoFixture()
        let parameters = stride(from: 0, to: list.count, by: 2).map { (list[$0], list[$0 + 1]) }
        let client = try fixture.server.connect()
        try client.send(
            FastCGIClient.beginRequest()
                + FastCGIClient.stream(FastCGIClient.RecordType.parameters, FastCGIClient.encode(parameters))
                + FastCGIClient.stream(FastCGIClient.RecordType.standardInput, []))
        #expect(try client.receiveEnd())
        #expect(try fixture.server.connect().ask()?.status == 200)
        #expect(try fixture.server.end().aborted == 1)
    }

    @Test func headGetsTheLengthOfWhatGetWouldSend() throws {
        let fixture = try EchoFixture()
        let answer = try #require(try fixture.server.connect().ask("HEAD", "/large/1234"))
        #expect(answer.header("Content-Length") == "1234" && answer.body.isEmpty)
    }

    /// nginx says how long it was, or how much of its chunks has come, and passes nothing of it on.
    @Test(arguments: [("POST", "100000"), ("GET", "100000"), ("POST", nil), ("PUT", "0")] as [(String, String?)])
    func aBodyThatNginxKeepsBackIsNotWaitedFor(method: String, announced: String?) throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        let headers = [("BODY_UNREAD", "1")] + (announced.map { [("CONTENT_LENGTH", $0)] } ?? [])
        for _ in 0..<3 {
            #expect(try client.ask(method, "/", headers: headers)?.status == 413)
            #expect(try client.ask(method, "/part/1", headers: headers)?.status == 413)
        }
        #expect(try client.ask()?.status == 200, "the connection is kept")
        #expect(try fixture.server.end().aborted == 0)
    }

    @Test func aConnectionIsKeptOnlyOnRequest() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        #expect(try client.ask(keep: true)?.status == 200)
        #expect(try client.ask(body: noise(10_000), keep: false)?.status == 200)
        #expect(try client.receiveEnd())
    }

    @Test(arguments: [0, 1, 8_000, 8_192, 65_535, 65_536, 5_000_000])
    func largeAnswersArriveWhole(_ size: Int) throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        for _ in 0..<3 {
            let answer = try #require(try client.ask("GET", "/large/\(size)"))
            #expect(answer.body.count == size && answer.header("Content-Length") == String(size))
        }
    }
}
