import Glibc
import Synchronization
import TestSupport
import Testing
import Threads

/// What a peer can and cannot do to the workers.
@Suite struct ConnectionTests {
    @Test func hundredsOfKeptConnectionsShareEightThreads() throws {
        let fixture = try EchoFixture(threads: 8)
        let kept = try (0..<256).map { _ in try fixture.server.connect() }
        for client in kept { #expect(try client.ask()?.status == 200) }
        for round in 0..<8 {
            #expect(try fixture.server.connect().ask(keep: round % 2 == 0)?.status == 200)
            // All at once, then all answers.
            for (index, client) in kept.enumerated() {
                try client.send(FastCGIClient.request("POST", "/\(index)", body: noise(round * 100)))
            }
            #expect(try fixture.server.connect().ask()?.status == 200)
            for (index, client) in kept.enumerated() {
                let answer = try #require(try client.receiveAnswer())
                #expect(answer.header("X-Path") == "/\(index)" && answer.body.count == round * 100)
            }
        }
    }

    @Test func connectionsThatSayNothingTakeNoThread() throws {
        let fixture = try EchoFixture(threads: 2)
        let silent = try (0..<32).map { _ in try fixture.server.connect() }
        #expect(try fixture.server.connect().ask()?.status == 200)
        for client in silent { #expect(try client.ask()?.status == 200) }
    }

    /// Sixteen clients that never pause, and sixteen that connect anew. Nobody waits for more than one request of each
    /// other client.
    @Test func newConnectionsStandInLineWithBusyOnes() throws {
        let fixture = try EchoFixture(threads: 1)
        let answers = Atomic(0)
        let isOver = Atomic(false)
        let busy = (0..<16).map { [server = fixture.server] _ in
            Thread {
                guard let client = try? server.connect() else { return }
                while !isOver.load(ordering: .relaxed), (try? client.ask("GET", "/late/20"))?.status == 200 {
                    answers.add(1, ordering: .relaxed)
                }
            }
        }
        try fixture.server.process.wait(for: "the busy clients", atMost: .seconds(60)) {
            answers.load(ordering: .relaxed) >= 32
        }
        let new = try (0..<16).map { _ in try fixture.server.connect() }
        let before = answers.load(ordering: .relaxed)
        for client in new { try client.send(FastCGIClient.request("GET", "/late/20")) }
        for client in new { #expect(try client.receiveAnswer()?.status == 200) }
        let meanwhile = answers.load(ordering: .relaxed) - before
        isOver.store(true, ordering: .relaxed)
        busy.forEach { $0.join() }
        #expect(meanwhile < 64)
        #expect(try fixture.server.end().aborted == 0)
    }

    @Test func aPeerThatPausesIsEndedAndIdleOnesAreNot() throws {
        let fixture = try EchoFixture(threads: 2, receiveTimeout: .milliseconds(300))
        var idle: FastCGIClient? = try fixture.server.connect()
        #expect(try idle?.ask()?.status == 200)
        let request = FastCGIClient.request("POST", "/", body: noise(5000))
        // In a header, in the parameters, in the body.
        for length in [5, 40, 3000] {
            let slow = try fixture.server.connect()
            try slow.send(Array(request[..<length]))
            #expect(try fixture.server.connect().ask()?.status == 200)
            #expect(try slow.receiveEnd())
        }
        // It has been idle for longer than each of them paused.
        #expect(try idle?.ask()?.status == 200)
        idle = nil
        // A worker tells of a fault after it has closed the connection, so at the end they are all there.
        #expect(try fixture.server.end() == Drained(requests: 5, cut: 0, aborted: 3))
        #expect(fixture.server.process.output.split(separator: "\n").count { $0.hasPrefix("fault") } == 3)
    }

    @Test func aQuarterOfTheWorkersIsFreeOfSlowPeers() throws {
        let fixture = try EchoFixture(threads: 4)
        let request = FastCGIClient.request("POST", "/gated", body: noise(5000))
        let slow = try (0..<4).map { _ in try fixture.server.connect() }
        for client in slow { try client.send(Array(request[..<1000])) }
        // Three wait with a permit each; whichever came last is refused at once.
        let refused = try #require(try firstToBeAnswered(slow))
        #expect(try slow[refused].receiveAnswer()?.status == 503)
        #expect(try fixture.server.connect().ask()?.status == 200)
        for (index, client) in slow.enumerated() where index != refused {
            try client.send(Array(request[1000...]))
            #expect(try client.receiveAnswer()?.body == noise(5000))
        }
        // The permits are free again.
        #expect(try fixture.server.connect().ask("POST", "/gated", body: [1])?.status == 200)
    }

    private func firstToBeAnswered(_ clients: [FastCGIClient]) throws -> Int? {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if let index = clients.firstIndex(where: { $0.hasInput(within: .milliseconds(5)) }) { return index }
        }
        return nil
    }

    @Test(arguments: MalformedInput.all)
    func malformedRecordsCostTheirConnectionOnly(_ input: MalformedInput) throws {
        let fixture = try EchoFixture(threads: 2)
        var bystander: FastCGIClient? = try fixture.server.connect()
        #expect(try bystander?.ask()?.status == 200)
        for _ in 0..<8 {
            let client = try fixture.server.connect()
            try client.send(input.bytes)
            client.finishSending()
            // The protocol has answers to unknown management records and to second requests on a connection.
            let types = [FastCGIClient.RecordType.unknownType, FastCGIClient.RecordType.endRequest]
            while let record = try client.receiveRecord() { #expect(types.contains(record.type)) }
        }
        #expect(try bystander?.ask()?.status == 200)
        bystander = nil
        #expect(try fixture.server.end() == Drained(requests: 2, cut: 0, aborted: 8))
    }

    @Test func noiseCostsItsConnectionOnly() throws {
        let fixture = try EchoFixture(threads: 2)
        for seed in 1...200 {
            let client = try fixture.server.connect()
            // A good beginning leads deeper. Not to lengths of parameters that have more than one byte: what libfcgi makes
            // of impossible ones is why sockets have permissions.
            let noise = noise(300, seed: UInt64(seed)).map { seed % 4 == 0 ? $0 & 0x7f : $0 }
            try client.send(
                (seed % 2 == 0 ? FastCGIClient.beginRequest() : [])
                    + (seed % 4 == 0 ? [1, 4, 0, 1, 1, 0, 0, 0] : []) + noise)
            client.finishSending()
            while try client.receiveRecord() != nil {}
        }
        #expect(try fixture.server.connect().ask()?.status == 200)
    }

    @Test func managementRecordsAreAnswered() throws {
        let fixture = try EchoFixture()
        let client = try fixture.server.connect()
        let names = [("FCGI_MAX_CONNS", ""), ("FCGI_MAX_REQS", ""), ("FCGI_MPXS_CONNS", ""), ("OTHER", "")]
        try client.send(
            FastCGIClient.record(FastCGIClient.RecordType.getValues, id: 0, FastCGIClient.encode(names))
                + FastCGIClient.request("GET", "/"))
        let values = try #require(try client.receiveRecord())
        #expect(values.type == FastCGIClient.RecordType.getValuesResult && values.id == 0)
        #expect(
            values.content
                == FastCGIClient.encode([("FCGI_MAX_CONNS", "1"), ("FCGI_MAX_REQS", "1"), ("FCGI_MPXS_CONNS", "0")]))
        #expect(try client.receiveAnswer()?.status == 200)
        #expect(try client.ask()?.status == 200)
    }
}

struct MalformedInput: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    private init(_ description: String, _ bytes: [UInt8]) {
        testDescription = description
        self.bytes = bytes
    }

    private typealias Client = FastCGIClient
    private static let parameters = Client.encode(Client.parameters("GET", "/"))
    private static let rest =
        Client.stream(Client.RecordType.parameters, parameters) + Client.stream(Client.RecordType.standardInput, [])

    static let all: [MalformedInput] = [
        .init("another version", Client.record(1, [0, 1, 1, 0, 0, 0, 0, 0], version: 2) + rest),
        .init("HTTP", Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
        .init("no begin", rest),
        .init("a begin that is too short", Client.record(1, [0, 1, 1]) + rest),
        .init("a begin that is too long", Client.record(1, [UInt8](repeating: 1, count: 16)) + rest),
        .init("a begin for request 0", Client.beginRequest(id: 0) + rest),
        .init("no such role", Client.beginRequest(role: 9) + rest),
        .init("an authorizer", Client.beginRequest(role: 2) + rest),
        .init("a filter", Client.beginRequest(role: 3) + rest),
        .init("an unknown record", Client.beginRequest() + Client.record(77, [1, 2, 3]) + rest),
        .init("an abort", Client.beginRequest() + Client.record(2) + rest),
        .init("input before parameters", Client.beginRequest() + Client.record(5, [1]) + rest),
        .init("output", Client.beginRequest() + Client.record(6, [1]) + rest),
        .init(
            "a second request inside the first",
            Client.beginRequest() + Client.beginRequest(id: 2) + Client.record(4, parameters)),
        .init("a management record and nothing else", Client.record(99, id: 0, [1, 2, 3, 4, 5, 6, 7, 8])),
        .init(
            "a name longer than the parameters",
            Client.beginRequest() + Client.stream(4, [0x80, 0x01, 0, 0, 1] + [UInt8](repeating: 65, count: 100))
                + Client.record(5)),
        .init(
            "lengths of 2 GiB",
            Client.beginRequest() + Client.stream(4, [UInt8](repeating: 0xff, count: 8) + [65, 66]) + Client.record(5)),
        .init("half a length", Client.beginRequest() + Client.stream(4, [0x80, 0]) + Client.record(5)),
        .init(
            "records for another request only",
            Client.beginRequest(id: 2) + Client.record(4, id: 1, parameters) + Client.record(4, id: 1)),
    ]
}
