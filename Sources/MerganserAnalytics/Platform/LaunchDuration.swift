#if canImport(Darwin)
internal import Darwin
internal import Foundation
#endif

/// Milliseconds from the start of the process until now, as `sdk:session_started` tells; nil where nobody asks.
func launchMilliseconds() -> Int? {
    #if canImport(Darwin)
    var process = kinfo_proc()
    var size = MemoryLayout<kinfo_proc>.stride
    var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()]
    guard sysctl(&name, UInt32(name.count), &process, &size, nil, 0) == 0 else { return nil }
    let start = process.kp_proc.p_un.__p_starttime
    let seconds = Double(start.tv_sec) + Double(start.tv_usec) / 1_000_000
    let milliseconds = Int((Date().timeIntervalSince1970 - seconds) * 1000)
    return milliseconds > 0 ? milliseconds : nil
    #else
    return nil
    #endif
}
