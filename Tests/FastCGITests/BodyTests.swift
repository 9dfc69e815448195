import TestSupport
import Testing

/// Bodies of many sizes: complete, truncated and unread.
@Suite struct BodyTests {
    /// All sizes near those of buffers and records, and others in steps of a prime.
    static let sizes: [Int] = {
        let borders = [0, 8_192, 16_384, 32_768, 65_535, 65_536, 98_304, 100_000]
        let around = borders.flatMap { border in (border - 40...border + 40).filter { (0...100_000).contains($0) } }
        return (around + stride(from: 0, through: 100_000, by: 211)).sorted()
    }()

    @Test(arguments: [(32_768, 0), (65_535, 1), (8_184, 8), (1_000, 255)])
    func bodiesOfAllSizesArriveOverOneConnection(recordLength: Int, padding: UInt8) throws {
        let fixture = try EchoFixture(threads: 2)
        let client = try fixture.server.connect()
        let bytes = noise(100_000)
        for size in BodyTests.sizes {
            let body = Array(bytes[..<size])
            try client.send(
                FastCGIClient.request("POST", "/", body: body, recordLength: recordLength, padding: padding))
            let answer = try #require(try client.receiveAnswer(), "the connection ended at \(size) bytes")
            try #require(answer.status == 200 && answer.body == body, "\(size) bytes")
        }
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    @Test func aBodyWithoutAnnouncedLengthEndsWithItsStream() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        for size in [0, 1, 65_535, 65_536, 65_537, 300_000] {
            let body = noise(size)
            let parameters = FastCGIClient.encode(FastCGIClient.parameters("POST", "/"))
            try client.send(
                FastCGIClient.beginRequest() + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters)
                    + FastCGIClient.stream(FastCGIClient.RecordType.standardInput, body))
            let answer = try #require(try client.receiveAnswer())
            #expect(answer.body == body && answer.header("X-Length") == "-")
        }
    }

    @Test(arguments: [(announced: 10, sent: 9), (10, 11), (10, 0), (0, 1), (70_000, 69_999), (70_000, 70_001)])
    func aBodyOfAnotherLengthEndsTheConnection(announced: Int, sent: Int) throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        let parameters = FastCGIClient.encode(FastCGIClient.parameters("POST", "/", length: announced))
        try client.send(
            FastCGIClient.beginRequest() + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters)
                + FastCGIClient.stream(FastCGIClient.RecordType.standardInput, noise(sent)))
        #expect(try client.receiveEnd())
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    @Test func theLargestAnnouncedLengthIsReadAsFarAsSomebodyAsks() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        let parameters = FastCGIClient.encode(FastCGIClient.parameters("POST", "/part/10", length: .max))
        try client.send(
            FastCGIClient.beginRequest() + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters)
                + FastCGIClient.record(FastCGIClient.RecordType.standardInput, noise(100)))
        #expect(try client.receiveAnswer()?.body == noise(10))
        #expect(try client.receiveEnd())
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    @Test func aRequestCutAnywhereIsNotAnswered() throws {
        let fixture = try EchoFixture()
        let request = FastCGIClient.request("POST", "/", headers: [("HTTP_A", "b")], body: noise(100), padding: 3)
        for length in 1..<request.count {
            let client = try fixture.server.connect()
            try client.send(Array(request[..<length]))
            client.finishSending()
            try #require(try client.receiveEnd(), "cut after \(length) bytes")
        }
        #expect(try fixture.server.connect().ask()?.status == 200)
        #expect(try fixture.server.end() == Drained(requests: 1, cut: 0, aborted: request.count - 1))
    }

    @Test(arguments: [0, 1, 100, 60_000, 200_000], ["/unread", "/part/50"])
    func aSmallUnreadBodyCostsNoConnection(size: Int, path: String) throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        for _ in 0..<3 {
            #expect(try client.ask("POST", path, body: noise(size)) != nil)
            #expect(try client.ask("POST", "/", body: [1])?.body == [1])
        }
    }

    /// nginx pads its records. libfcgi has skipped the padding when it waits for the next record.
    @Test(arguments: [0, 7] as [UInt8]) func anUnreadBodyThatPausesIsAnsweredBeforeItsEnd(padding: UInt8) throws {
        let fixture = try EchoFixture(threads: 1)
        let client = try fixture.server.connect()
        let parameters = FastCGIClient.encode(FastCGIClient.parameters("POST", "/unread", length: 100_000))
        try client.send(
            FastCGIClient.beginRequest() + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters)
                + FastCGIClient.record(FastCGIClient.RecordType.standardInput, noise(1000), padding: padding))
        #expect(try client.receiveAnswer()?.status == 413)
        #expect(try client.receiveEnd())
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    /// For any method and announced length. If the usual patience within a request applied here, it would be longer
    /// than this client's.
    @Test(
        arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"], [nil, 0, 1000] as [Int?])
    func aBodyThatNobodyReadsHoldsNoWorker(method: String, length: Int?) throws {
        let fixture = try EchoFixture(threads: 1, receiveTimeout: .seconds(60))
        for isKept in [true, false] {
            let client = try fixture.server.connect()
            let parameters = FastCGIClient.encode(FastCGIClient.parameters(method, "/unread", length: length))
            try client.send(
                FastCGIClient.beginRequest(keep: isKept)
                    + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters))
            if length == 1000 { try client.send(FastCGIClient.record(FastCGIClient.RecordType.standardInput, [1])) }
            #expect(try client.receiveAnswer()?.status == 413)
            #expect(try client.receiveEnd())
            #expect(try fixture.server.connect().ask()?.status == 200)
        }
    }

    // MARK: Pace

    @Test func aBodyThatKeepsItsPaceArrives() throws {
        let fixture = try EchoFixture(threads: 1)
        for size in [0, 1, 8192, 65_536, 65_537, 300_000] {
            for padding in [0, 7] as [UInt8] {
                let client = try fixture.server.connect()
                let parameters = FastCGIClient.encode(FastCGIClient.parameters("PUT", "/paced/1/20000"))
                try client.send(FastCGIClient.request("PUT", "/paced/1/20000", body: noise(size), padding: padding))
                #expect(try client.receiveAnswer()?.body == noise(size))
                // The same without an announced length.
                try client.send(
                    FastCGIClient.beginRequest()
                        + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters)
                        + FastCGIClient.stream(FastCGIClient.RecordType.standardInput, noise(size), padding: padding))
                #expect(try client.receiveAnswer()?.body == noise(size))
            }
        }
    }

    /// The body neither pauses for long nor ends.
    @Test func aBodyThatComesTooSlowlyIsAnsweredMeanwhile() throws {
        let fixture = try EchoFixture(threads: 1)
        let client = try fixture.server.connect()
        let parameters = FastCGIClient.encode(FastCGIClient.parameters("PUT", "/paced/1000/200", length: 10_000_000))
        try client.send(
            FastCGIClient.beginRequest(keep: false)
                + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters))
        let byte = FastCGIClient.record(FastCGIClient.RecordType.standardInput, [7], padding: 7)
        var count = 0
        while !client.hasInput(within: .milliseconds(10)) {
            try client.send(byte)
            count += 1
        }
        let answer = try #require(try client.receiveAnswer())
        #expect(answer.status == 408 && answer.body.count <= count)
        #expect(try client.receiveEnd())
        #expect(try fixture.server.connect().ask()?.status == 200)
        #expect(try fixture.server.end().aborted == 0)
    }

    /// Wherever the body stops, and however long pauses may be elsewhere: between two records, in a header, in content,
    /// or in padding. libfcgi cannot distinguish the last case from a wait for the next header.
    @Test(arguments: [0, 3, 50, 8192, 8200]) func aBodyThatStopsIsAnsweredWhenThePatienceEnds(sent: Int) throws {
        let fixture = try EchoFixture(threads: 1, receiveTimeout: .seconds(60))
        let parameters = FastCGIClient.encode(FastCGIClient.parameters("PUT", "/paced/1000000/300", length: 10_000))
        let record = FastCGIClient.record(FastCGIClient.RecordType.standardInput, noise(8184), padding: 200)
        for isKept in [true, false] {
            let client = try fixture.server.connect()
            try client.send(
                FastCGIClient.beginRequest(keep: isKept)
                    + FastCGIClient.stream(FastCGIClient.RecordType.parameters, parameters) + record[..<sent])
            #expect(try client.receiveAnswer()?.status == 408)
            #expect(try client.receiveEnd())
            #expect(try fixture.server.connect().ask()?.status == 200)
        }
        #expect(try fixture.server.end() == Drained(requests: 4, cut: 0, aborted: 0))
    }

    @Test func aBodyThatIsCutKeepsNobodyWaitingForItsPace() throws {
        let fixture = try EchoFixture(threads: 1)
        let client = try fixture.server.connect()
        let request = FastCGIClient.request("PUT", "/paced/1/3600000", body: noise(1000))
        try client.send(Array(request[..<500]))
        client.finishSending()
        #expect(try client.receiveEnd())
        #expect(try fixture.server.end() == Drained(requests: 0, cut: 0, aborted: 1))
    }

    /// The patience of one request does not apply to the next one.
    @Test func afterAPacedBodyAPauseIsAsLongAsElsewhere() throws {
        let fixture = try EchoFixture(threads: 1, receiveTimeout: .milliseconds(300))
        let client = try fixture.server.connect()
        #expect(try client.ask("PUT", "/paced/1/3600000", body: noise(1000))?.body == noise(1000))
        try client.send(FastCGIClient.beginRequest())
        #expect(try client.receiveEnd())
        #expect(try fixture.server.end() == Drained(requests: 1, cut: 0, aborted: 1))
    }

    @Test func aLargeUnreadBodyIsAnsweredBeforeItsEnd() throws {
        let fixture = try EchoFixture(threads: 1)
        let client = try fixture.server.connect()
        let request = FastCGIClient.request("POST", "/unread", body: noise(3_000_000))
        try client.send(Array(request[..<100_000]))
        let answer = try #require(try client.receiveAnswer())
        #expect(answer.status == 413 && answer.body == Array("too large".utf8))
        #expect(try client.receiveEnd())
        // The one worker does not wait for the rest, and who has not seen the answer yet can go on sending.
        #expect(try fixture.server.connect().ask()?.status == 200)
        try client.send(Array(request[100_000...]))
        client.finishSending()
        #expect(try fixture.server.end().cut == 0)
    }
}
