import Testing
import Time

@Suite struct TimestampTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_778_569_200_000, "2026-05-12T07:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_800_000, "10000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-1-12-31T23:59:59.999Z"),
    ])
    func prints(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601Milliseconds == text)
    }

    @Test func months() {
        for (milliseconds, start) in [
            (1_736_937_000_001, "2025-01-01T00:00:00.000Z"), (1_735_689_600_000, "2025-01-01T00:00:00.000Z"),
            (1_735_689_599_999, "2024-12-01T00:00:00.000Z"), (-1, "1969-12-01T00:00:00.000Z"),
        ] as [(Int64, String)] {
            #expect(Timestamp(milliseconds: milliseconds).startOfMonth.iso8601Milliseconds == start)
        }
    }

    @Test func isCutToWholeSeconds() {
        #expect(Timestamp(milliseconds: 1_778_569_200_999).iso8601 == "2026-05-12T07:00:00Z")
        #expect(Timestamp(milliseconds: -1).seconds == -1)
    }

    @Test(arguments: [
        (Duration.milliseconds(1500), Int64(1500)), (.microseconds(1999), 1), (.microseconds(999), 0),
        (.microseconds(-999), 0), (.microseconds(-1500), -1), (.seconds(-86_400), -86_400_000),
        (.seconds(253_402_300_799), 253_402_300_799_000),
    ])
    func durationsAreCutToMilliseconds(_ duration: Duration, milliseconds: Int64) {
        let epoch = Timestamp(milliseconds: 0)
        #expect((epoch + duration).milliseconds == milliseconds)
        #expect((epoch - duration).milliseconds == -milliseconds)
    }

    @Test func everyDayOfEightCenturiesSurvivesTheRoundTrip() {
        var day = Timestamp(CivilTime(year: 1700, month: 1, day: 1))
        let end = Timestamp(CivilTime(year: 2500, month: 1, day: 1))
        while day < end {
            let civil = CivilTime(day)
            guard Timestamp(civil) == day, (1...12).contains(civil.month), (1...31).contains(civil.day) else {
                Issue.record("\(day.milliseconds) became \(civil)")
                return
            }
            day = day + .seconds(86_400)
        }
    }
}
