import Foundation

/// The bytes as gzip(1) compresses them.
package func gzipped(_ bytes: [UInt8]) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    let file = directory.file("bytes")
    try Data(bytes).write(to: URL(filePath: file))
    let outcome = try ChildProcess.run("/usr/bin/env", ["gzip", "-9", file])
    guard outcome.exit == .status(0) else { throw TestSupportError("gzip: \(outcome.errorOutput)") }
    return [UInt8](try Data(contentsOf: URL(filePath: file + ".gz")))
}
