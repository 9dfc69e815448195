import Foundation
import Logging
import Synchronization
import Testing
import Time

@testable import Logs

@Suite struct LogTests {
    @Test func writesOneObjectALine() throws {
        let lines = try logged(metadata: ["instance": "blue"]) { logger in
            logger.info("started", metadata: ["request_id": "abc", "attempts": .stringConvertible(6)])
            logger.debug("left out")
            logger.error("said \"no\"\nand left \u{1F986}", metadata: ["instance": "green", "message": "mine"])
        }
        #expect(
            lines == [
                #"{"time":"2026-05-12T07:00:00.123Z","level":"info","message":"started","attempts":6,"instance":"blue","request_id":"abc"}"#,
                #"{"time":"2026-05-12T07:00:00.123Z","level":"error","message":"said \"no\"\nand left 🦆","instance":"green"}"#,
            ])
    }

    @Test func withholdsWhatIsNamedLikeASecret() throws {
        let lines = try logged { logger in
            logger.info(
                "asked",
                metadata: [
                    "Authorization": "Bearer s3cret", "access_token": "s3cret", "user_id": "7",
                    "headers": ["cookie": "s3cret", "accept": "*/*"], "tokens": ["s3cret"],
                ])
        }
        #expect(
            lines == [
                #"{"time":"2026-05-12T07:00:00.123Z","level":"info","message":"asked","Authorization":"[withheld]","access_token":"[withheld]","headers":{"accept":"*/*","cookie":"[withheld]"},"tokens":"[withheld]","user_id":"7"}"#
            ])
    }

    @Test func linesOfManyThreadsStayWhole() throws {
        let long = String(repeating: "x", count: 9000)
        let lines = try logged { logger in
            let logger = logger
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for _ in 0..<50 { logger.info("\(long)", metadata: ["thread": .stringConvertible(thread)]) }
            }
        }
        #expect(lines.count == 400)
        for line in lines {
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect((object["message"] as? String)?.count == 9000)
        }
    }

    /// What `body` logs at `info` and above, line by line.
    private func logged(metadata: Logger.Metadata = [:], _ body: (Logger) -> Void) throws -> [String] {
        let pipe = Pipe()
        let text = Mutex("")
        let reader = Thread {
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            text.withLock { $0 = String(decoding: data, as: UTF8.self) }
            done.signal()
        }
        reader.start()
        let handler = JSONLogHandler(
            level: .info, metadata: metadata, sink: LineSink(descriptor: pipe.fileHandleForWriting.fileDescriptor),
            clock: Clock { Timestamp(milliseconds: 1_778_569_200_123) })
        body(Logger(label: "test") { _ in handler })
        try pipe.fileHandleForWriting.close()
        done.wait()
        let all = text.withLock { $0 }
        #expect(all.hasSuffix("\n"))
        return all.split(separator: "\n").map(String.init)
    }

    private let done = DispatchSemaphore(value: 0)
}
