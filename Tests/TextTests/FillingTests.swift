import Testing
import Text

@Suite struct FillingTests {
    @Test(arguments: [0, 1, 32, 1000]) func everyByteIsTheOneThatWasWritten(count: Int) {
        let bytes = [UInt8](filling: count) { bytes in
            #expect(bytes.count == count)
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) }
        }
        #expect(bytes == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func nothingIsWrittenOfNone() {
        #expect([UInt8](filling: 0) { _ in Issue.record("there is nothing to write") } == [])
    }

    @Test func whatTheClosureThrowsIsThrown() {
        struct Failed: Error {}
        #expect(throws: Failed.self) { try [UInt8](filling: 8) { _ throws(Failed) in throw Failed() } }
    }
}
