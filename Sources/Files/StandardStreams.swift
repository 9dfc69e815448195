/// What a process is given to be asked and to complain by.
package enum StandardInput {
    /// All that comes until its end.
    package static func readToEnd() throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = try System.read(atMost: 65_536, from: .standardInput)
            if part.isEmpty { return bytes }
            bytes += part
        }
    }
}

package enum StandardOutput {
    package static func write(_ bytes: [UInt8]) throws(FileError) { try System.write(bytes, to: .standardOutput) }
}

package enum StandardError {
    /// - Parameter text: lost when nobody reads it any more: there is no other place to complain.
    package static func write(_ text: String) { try? System.write(Array(text.utf8), to: .standardError) }
}
