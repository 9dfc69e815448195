import Testing
import Text

@Suite struct OutputSpanTests {
    @Test(arguments: [0, 1, -1, 9, 10, -10, 99, 1_000, 1_764_252_000_000, .max, .min] as [Int64])
    func numbersAreDecimal(_ number: Int64) {
        var text = Array("[".utf8)
        text.append(decimal: number)
        #expect(String(decoding: text, as: UTF8.self) == "[\(number)")
    }

    @Test func textsAreAppendedByteForByte() {
        var text: [UInt8] = []
        text.append(addingCapacity: 20) { text in
            text.append("é\0")
            text.append("")
            text.append(copying: [0xFF, 0x80].span)
        }
        #expect(text == [0xC3, 0xA9, 0, 0xFF, 0x80])
    }

    /// Four or eight at a time, and nothing beyond them.
    @Test(arguments: 0..<40) func bytesAreCopiedFromAnyPlaceToAnyPlace(count: Int) {
        let source = (0..<60).map { UInt8($0) }
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 60)
        defer { memory.deallocate() }
        for start in 0..<10 {
            for before in 0..<10 {
                memory.initialize(repeating: 0xAA)
                let target = UnsafeMutableBufferPointer(rebasing: memory[..<(before + count)])
                var text = OutputSpan(buffer: target, initializedCount: before)
                text.append(copying: source.span.extracting(start..<start + count))
                #expect(text.finalize(for: target) == before + count)
                #expect(Array(memory[before..<before + count]) == Array(source[start..<start + count]))
                let others = Array(memory[..<before]) + Array(memory[(before + count)...])
                #expect(others.allSatisfy { $0 == 0xAA })
            }
        }
    }
}
