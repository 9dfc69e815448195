import Glibc

/// The programs of the system that `setup` and `release` run, such as systemctl and nginx.
enum Program {
    /// A program failed.
    struct Failure: Error, CustomStringConvertible {
        let words: [String]
        /// What it printed.
        let output: String

        var description: String { "\(words.joined(separator: " ")) failed: \(output)" }
    }

    /// Runs a program to its end. It inherits the environment, and finds nothing to read.
    ///
    /// - Parameter words: its name, which is looked for in PATH, and its arguments.
    /// - Returns: what it printed, errors too, without the last line break.
    @discardableResult
    static func run(_ words: String...) throws -> String {
        let (status, output) = try outcome(of: words)
        guard status == 0 else { throw Failure(words: words, output: output) }
        return output
    }

    /// Whether a program ends with status 0.
    static func succeeds(_ words: String...) -> Bool { (try? outcome(of: words).status) == 0 }

    /// What a program prints, whatever its status.
    static func output(_ words: String...) throws -> String { try outcome(of: words).output }

    private static func outcome(of words: [String]) throws -> (status: Int32, output: String) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(words: words, output: String(cString: strerror(errno)))
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { throw Failure(words: words, output: String(cString: strerror(code))) }
        var output: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends[0], &part, part.count)
            if count > 0 { output += part[..<count] } else if count == 0 || errno != EINTR { break }
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return (status, String(decoding: output, as: UTF8.self).trimmingNewlines)
    }
}
