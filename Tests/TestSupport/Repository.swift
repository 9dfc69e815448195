import Glibc

/// The files that tests need.
///
/// This target owns what tests of several targets share: private servers, child processes, paths, fake peers. It holds
/// no tests and no rules.
package enum Repository {
    /// The folder of `Package.swift`, without a final slash.
    package static let root: String = {
        var path = #filePath[...]
        for _ in 0..<3 { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
        return String(path)
    }()

    /// The folder of the programs built together with the running tests.
    package static let products: String = {
        let executable = realpath("/proc/self/exe", nil)
        defer { free(executable) }
        guard let executable else { preconditionFailure("/proc/self/exe cannot be resolved: is /proc mounted?") }
        let path = String(cString: executable)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The path of a program of this package.
    package static func program(_ name: String) -> String { "\(products)/\(name)" }
}
