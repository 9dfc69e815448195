/// A timestamp's fields in the proleptic Gregorian calendar, UTC.
package struct CivilTime: Equatable, Sendable {
    package var year: Int
    /// 1…12
    package var month: Int
    /// 1…31
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int
    package var millisecond: Int

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, millisecond: Int = 0)
    {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.millisecond = millisecond
    }

    package init(_ timestamp: Timestamp) {
        let days = timestamp.milliseconds.quotientRoundedDown(by: 86_400_000)
        let rest = Int(timestamp.milliseconds - days * 86_400_000)
        // Years are counted from March, so that the leap day is the last day of a year. An era has 400 years, 146 097
        // days.
        let shifted = days + 719_468
        let era = shifted.quotientRoundedDown(by: 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, hour: rest / 3_600_000, minute: rest / 60_000 % 60,
            second: rest / 1000 % 60, millisecond: rest % 1000)
    }
}

extension Timestamp {
    package init(_ civil: CivilTime) {
        let year = Int64(civil.month <= 2 ? civil.year - 1 : civil.year)
        let era = year.quotientRoundedDown(by: 400)
        let yearOfEra = year - era * 400
        let shiftedMonth = Int64(civil.month > 2 ? civil.month - 3 : civil.month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(civil.day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        let seconds = days * 86_400 + Int64(civil.hour * 3600 + civil.minute * 60 + civil.second)
        self.init(milliseconds: seconds * 1000 + Int64(civil.millisecond))
    }

    /// Midnight of the first day of its month.
    package var startOfMonth: Timestamp {
        let civil = CivilTime(self)
        return Timestamp(CivilTime(year: civil.year, month: civil.month, day: 1))
    }

    /// ISO 8601 in whole seconds, truncated: `2026-05-12T07:00:00Z` (accounts §0.1).
    package var iso8601: String { text(hasMilliseconds: false) }

    /// ISO 8601 with exactly three fractional digits: `2025-01-15T10:30:00.000Z` (analytics §2.2).
    package var iso8601Milliseconds: String { text(hasMilliseconds: true) }

    /// Digit by digit: most answers have times, and an interpolation takes ten times as long.
    private func text(hasMilliseconds: Bool) -> String {
        let civil = CivilTime(self)
        // 20 bytes beside the year, which takes no more. Unsafe is only that the bytes are not initialized before.
        return unsafe String(unsafeUninitializedCapacity: 40) { buffer in
            var text = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            // No DATETIME has another year.
            if (0...9999).contains(civil.year) {
                text.appendTwoDigits(civil.year / 100)
                text.appendTwoDigits(civil.year % 100)
            } else {
                for digit in String(civil.year).utf8 { text.append(digit) }
            }
            text.append(UInt8(ascii: "-"))
            text.appendTwoDigits(civil.month)
            text.append(UInt8(ascii: "-"))
            text.appendTwoDigits(civil.day)
            text.append(UInt8(ascii: "T"))
            text.appendTwoDigits(civil.hour)
            text.append(UInt8(ascii: ":"))
            text.appendTwoDigits(civil.minute)
            text.append(UInt8(ascii: ":"))
            text.appendTwoDigits(civil.second)
            if hasMilliseconds {
                text.append(UInt8(ascii: "."))
                text.append(UInt8(ascii: "0") + UInt8(civil.millisecond / 100))
                text.appendTwoDigits(civil.millisecond % 100)
            }
            text.append(UInt8(ascii: "Z"))
            return unsafe text.finalize(for: buffer)
        }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func appendTwoDigits(_ number: Int) {
        append(UInt8(ascii: "0") + UInt8(number / 10))
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }
}
