import Testing

@testable import merganserd

@Suite struct ServerPartsTests {
    @Test func busyWorkersThatFinishNothingAreStuck() {
        var progress = WorkerProgress(threads: 2)
        let start = ContinuousClock.now
        let stuck = [
            progress.isMade(requests: 7, inFlight: 2, at: start),
            progress.isMade(requests: 7, inFlight: 2, at: start + .seconds(59)),
            progress.isMade(requests: 7, inFlight: 2, at: start + .seconds(61)),
        ]
        #expect(stuck == [true, true, false])
        let finishing = [
            progress.isMade(requests: 8, inFlight: 2, at: start + .seconds(62)),
            progress.isMade(requests: 8, inFlight: 2, at: start + .seconds(123)),
        ]
        #expect(finishing == [true, false])
        // A free worker is one that gets on, however long nobody asks.
        let idle = [
            progress.isMade(requests: 8, inFlight: 1, at: start + .seconds(124)),
            progress.isMade(requests: 8, inFlight: 0, at: start + .seconds(1000)),
        ]
        #expect(idle == [true, true])
    }

    @Test func metricsAreWrittenAsPrometheusReadsThem() {
        var exposition = Exposition()
        exposition.add("plain_total", .counter, "Plain.", 3)
        exposition.add("labeled", .gauge, "Labeled.", [([("a", "x\"y\\z\n"), ("b", "")], 0.25)])
        exposition.addHistogram("lasting_seconds", "Lasting.", bounds: [0.5, 1], [([("r", "/")], [2, 0, 1], 7.5)])
        #expect(
            exposition.text == #"""
                # HELP plain_total Plain.
                # TYPE plain_total counter
                plain_total 3
                # HELP labeled Labeled.
                # TYPE labeled gauge
                labeled{a="x\"y\\z\n",b=""} 0.25
                # HELP lasting_seconds Lasting.
                # TYPE lasting_seconds histogram
                lasting_seconds_bucket{r="/",le="0.5"} 2
                lasting_seconds_bucket{r="/",le="1"} 2
                lasting_seconds_bucket{r="/",le="+Inf"} 3
                lasting_seconds_sum{r="/"} 7.5
                lasting_seconds_count{r="/"} 3

                """#)
    }
}
