import MariaDB
package import Time

extension Timestamp {
    /// The times that a DATETIME column and an answer can hold: the years 1 to 9999.
    package static let storable =
        Timestamp(
            CivilTime(year: 1, month: 1, day: 1))...Timestamp(
            CivilTime(year: 9999, month: 12, day: 31, hour: 23, minute: 59, second: 59, millisecond: 999))

    /// An ISO 8601 date (which means midnight), or a date and time in the extended format, to the minute, the second or
    /// a fraction of a second. Fractions are truncated to milliseconds. A time without a zone is UTC. Nil for anything
    /// else, and for days, times and offsets that do not exist.
    package init?(iso8601 text: String) { self.init(iso8601: Array(text.utf8)[...]) }

    /// The same in UTF-8.
    package init?(iso8601 text: ArraySlice<UInt8>) {
        var reader = FieldReader(text)
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"), let day = reader.number(digits: 2), (1...12).contains(month),
            (1...daysIn(month: month, year: year)).contains(day)
        else { return nil }
        var civil = CivilTime(year: year, month: month, day: day)
        var offset = 0
        if reader.take("T") {
            guard let hour = reader.number(digits: 2, below: 24), reader.take(":"),
                let minute = reader.number(digits: 2, below: 60)
            else { return nil }
            (civil.hour, civil.minute) = (hour, minute)
            if reader.take(":") {
                guard let second = reader.number(digits: 2, below: 60) else { return nil }
                civil.second = second
                if reader.take(".") || reader.take(",") {
                    guard let millisecond = reader.milliseconds() else { return nil }
                    civil.millisecond = millisecond
                }
            }
            guard let minutes = reader.zone() else { return nil }
            offset = minutes
        }
        let time = Timestamp(milliseconds: Timestamp(civil).milliseconds - Int64(offset) * 60_000)
        guard reader.isAtEnd, Self.storable.contains(time) else { return nil }
        self = time
    }
}

/// A time in the format of analytics answers (analytics §2.2).
package struct WireTime: RawRepresentable, Hashable, Sendable, Readable, Encodable {
    package let rawValue: Timestamp

    package init(rawValue: Timestamp) { self.rawValue = rawValue }

    package func encode(to encoder: any Encoder) throws { try rawValue.iso8601Milliseconds.encode(to: encoder) }
}

private func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}

/// Reads the fields of a text one after another.
private struct FieldReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ text: ArraySlice<UInt8>) { (bytes, position) = (text, text.startIndex) }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard !isAtEnd, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func digit() -> Int? {
        guard !isAtEnd, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else { return nil }
        defer { position += 1 }
        return Int(bytes[position] - UInt8(ascii: "0"))
    }

    mutating func number(digits: Int, below limit: Int = .max) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number < limit ? number : nil
    }

    /// At least one digit. Digits after the third are ignored.
    mutating func milliseconds() -> Int? {
        guard let first = digit() else { return nil }
        let second = digit()
        let third = second.flatMap { _ in digit() }
        while third != nil, digit() != nil {}
        return first * 100 + (second ?? 0) * 10 + (third ?? 0)
    }

    /// Minutes east of UTC: 0 for `Z` or no zone, otherwise `±hh`, `±hhmm` or `±hh:mm`.
    mutating func zone() -> Int? {
        if isAtEnd || take("Z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(digits: 2, below: 24) else { return nil }
        var minutes = 0
        if !isAtEnd {
            _ = take(":")
            guard let number = number(digits: 2, below: 60) else { return nil }
            minutes = number
        }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }
}
