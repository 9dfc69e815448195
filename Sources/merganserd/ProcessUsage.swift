import Files
import Glibc

/// The resources that this process uses (proc(5)).
struct ProcessUsage {
    let cpuSeconds: Double
    let residentBytes: Int
    let openDescriptors: Int
    let maximumDescriptors: Int

    /// nil if /proc cannot be read.
    static var current: ProcessUsage? {
        guard let bytes = try? StoredFile("/proc/self/stat")?.read(atMost: 4096),
            let descriptors = try? Folder.names(in: "/proc/self/fd")
        else { return nil }
        let stat = String(decoding: bytes, as: UTF8.self)
        // The program's name may have spaces and parentheses. The third field follows it.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst()
        func field(_ number: Int) -> Double { Double(fields.dropFirst(number - 3).first ?? "") ?? 0 }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return ProcessUsage(
            cpuSeconds: (field(14) + field(15)) / Double(sysconf(Int32(_SC_CLK_TCK))),
            residentBytes: Int(field(24)) * sysconf(Int32(_SC_PAGESIZE)),
            // Without the descriptor that reading the folder takes.
            openDescriptors: descriptors.count - 1, maximumDescriptors: Int(clamping: limit.rlim_cur))
    }
}
