import Text

/// How `devices.live_paks` says which PAKs are live: their ids in decimal, ascending, with commas between them. Each launch reads
/// and writes it, so both are done byte by byte.
extension [PAK.ID] {
    /// Nil if the text is not in this form: then the PAKs are to be read.
    init?(kept text: String) {
        let bytes = text.utf8Span.span
        self = []
        reserveCapacity(PAK.keptPerDevice)
        var start = 0
        repeat {
            let end = bytes.firstIndex(of: UInt8(ascii: ","), from: start)
            // More could overflow, and no real id has so many.
            guard (1...18).contains(end - start) else { return nil }
            var id: Int64 = 0
            for index in start..<end {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { return nil }
                id = id * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            }
            if let last, id <= last.rawValue { return nil }
            append(PAK.ID(rawValue: id))
            start = end + 1
        } while start <= bytes.count
    }
}

extension ArraySlice<PAK.ID> {
    /// The text of these with one more, but without that one's id.
    var textBeforeAnother: String {
        var text: [UInt8] = []
        text.reserveCapacity(count * 21)
        for id in self {
            text.append(decimal: id.rawValue)
            text.append(UInt8(ascii: ","))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
