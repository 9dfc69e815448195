import Testing
import Threads

@Suite struct MonitorTests {
    /// A deadline that has passed before anybody waits for it.
    @Test(arguments: [Duration.zero, .milliseconds(-1), .seconds(-5)])
    func aTimeThatIsOverIsNotWaitedFor(time: Duration) {
        let monitor = Monitor(0)
        #expect(monitor.wait(atMost: time) { _ in Bool?.none } == nil)
        #expect(monitor.wait(atMost: time) { $0 } == 0)
    }
}
