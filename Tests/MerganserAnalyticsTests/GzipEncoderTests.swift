import Foundation
import Gzip
import TestSupport
import Testing

@testable import MerganserAnalytics

/// What the library compresses, zlib gives back: the one of the server.
@Suite struct GzipEncoderTests {
    @Test(
        arguments: [
            [], [0], Array(0...255), Array("aaaaaaaaaaaaaaaaaaaaaaaa".utf8), Array("abcabcabcabcabcabcabcab".utf8),
            Array(repeating: UInt8(7), count: 1000), Array(repeating: 7, count: 1 << 20),
        ] as [[UInt8]])
    func zlibGivesItBack(bytes: [UInt8]) throws {
        let compressed = GzipEncoder.compress(bytes)
        #expect(try gunzip(compressed, limit: bytes.count) == bytes)
    }

    /// Every length of a match, at every distance with a code of its own, and one beyond the window.
    @Test func everyLengthAndDistanceIsWritten() throws {
        var generator = SeededGenerator(seed: 1)
        for exponent in 2...15 {
            for distance in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
                let filler = (0..<distance).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let length = Int.random(in: 3...300, using: &generator)
                let bytes = filler + filler.prefix(length) + filler.prefix(258)
                #expect(try gunzip(GzipEncoder.compress(bytes), limit: bytes.count) == bytes)
            }
        }
        for length in 3...259 {
            let word = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 7) }
            let bytes = word + [1, 2, 3, 250] + word + [9]
            #expect(try gunzip(GzipEncoder.compress(bytes), limit: bytes.count) == bytes)
        }
    }

    @Test func randomTextsOfAFewLettersComeBack() throws {
        var generator = SeededGenerator(seed: 2)
        for letters in [2, 3, 10, 200] {
            for _ in 0..<40 {
                let count = Int.random(in: 0...5000, using: &generator)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0..<UInt8(letters), using: &generator) }
                #expect(try gunzip(GzipEncoder.compress(bytes), limit: bytes.count) == bytes)
            }
        }
    }

    /// A batch is a tenth of its size; zlib would make it a twelfth.
    @Test func aBatchGetsSmall() throws {
        let encoder = EventEncoder(device: AnalyticsDeployment.device, isDevelopment: true)
        let events = (0..<100).map { number in
            encoder.encode(
                PendingEvent(
                    message: "Opened page \(number)", level: .info, screen: "Page", attributes: ["n": "\(number)"],
                    attachments: [], milliseconds: 1_800_000_000_000, source: SourceLocation(),
                    context: EventContext(
                        userID: "owl_anon_\(UUID().uuidString)", sessionID: UUID().uuidString, connection: .wifi)),
                id: UUID().uuidString)[...]
        }
        let body = IngestRequest.body(events, bundleID: "com.example")
        let compressed = GzipEncoder.compress(body)
        #expect(try gunzip(compressed, limit: body.count) == body)
        #expect(compressed.count * 4 < body.count)
    }
}

/// What a request's body was before it was compressed.
func gunzipped(_ bytes: [UInt8]) throws -> [UInt8] { try gunzip(bytes, limit: 1 << 24) }

/// The same numbers in each run (splitmix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
