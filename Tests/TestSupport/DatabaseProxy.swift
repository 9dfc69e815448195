import Glibc
package import MariaDB
import Threads

/// A proxy between a client and MariaDB that cuts the connection before or after a statement, as if either side or the
/// network had failed. It recognizes statements of the text protocol, such as COMMIT, and prepared blocks that end with one, and
/// forwards everything else.
package final class DatabaseProxy: Sendable {
    package enum Cut: Sendable {
        /// The server does not receive the statement.
        case beforeServer
        /// The server carries it out, but its answer is lost.
        case beforeAnswer
    }

    package var socket: String { directory.file("socket") }

    private let directory: TemporaryDirectory
    private let server: String
    private let listener: Int32
    private let state = Monitor(State())

    private struct ArmedCut {
        let statement: String
        let cut: Cut
        let meanwhile: @Sendable () -> Void
    }

    private struct State {
        var cuts: [ArmedCut] = []
        var cutsMade = 0
    }

    package init(to server: String) throws {
        self.server = server
        directory = try TemporaryDirectory()
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isListening = withAddress(directory.file("socket")) { [listener] address, size in
            bind(listener, address, size) == 0 && listen(listener, 64) == 0
        }
        guard isListening else { throw TestSupportError("a socket in \(directory.path)", code: errno) }
        let accepting = Thread { [listener, weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    break
                }
                Thread { self.serve(client) }.detach()
            }
            close(listener)
        }
        accepting.detach()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// `options` with this proxy in place of the server.
    package func options(for options: Connection.Options) -> Connection.Options {
        var options = options
        options.address = .unixSocket(socket)
        return options
    }

    /// Arms one cut, for the next statement with exactly this text, or block with this statement at its end, on any connection.
    ///
    /// - Parameter meanwhile: runs before the client sees that its connection is cut.
    package func cut(
        _ cut: Cut, at statement: String = "COMMIT", meanwhile: @escaping @Sendable () -> Void = {}
    ) {
        state.withLock { $0.cuts.append(ArmedCut(statement: statement, cut: cut, meanwhile: meanwhile)) }
    }

    /// How many armed cuts have been made.
    package var cutsMade: Int { state.withLock { $0.cutsMade } }

    private func serve(_ client: Int32) {
        let upstream = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(client)
            close(upstream)
        }
        guard withAddress(server, { connect(upstream, $0, $1) }) == 0 else { return }
        var blocks = PreparedBlocks()
        while true {
            var ready = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&ready, 2, -1) > 0 else { return }
            if ready[1].revents != 0 {
                guard let bytes = receive(upstream) else { return }
                blocks.note(answer: bytes)
                guard send(bytes, to: client) else { return }
            }
            if ready[0].revents != 0 {
                // A command waits for its answer, so one packet is all there is to read.
                guard let bytes = receive(client) else { return }
                guard let armed = takeCut(at: blocks.statement(of: bytes)) else {
                    guard send(bytes, to: upstream) else { return }
                    continue
                }
                if armed.cut == .beforeAnswer {
                    _ = send(bytes, to: upstream)
                    _ = receive(upstream)
                }
                armed.meanwhile()
                return
            }
        }
    }

    private func takeCut(at statement: String?) -> ArmedCut? {
        guard let statement else { return nil }
        return state.withLock { state in
            guard let index = state.cuts.firstIndex(where: { $0.statement == statement }) else { return nil }
            state.cutsMade += 1
            return state.cuts.remove(at: index)
        }
    }
}

/// The blocks that a connection has prepared.
private struct PreparedBlocks {
    /// The last statement of each, by the id that the server gave it.
    private var lastStatements: [ArraySlice<UInt8>: String] = [:]
    private var beingPrepared: String?

    /// - Returns: the statement that a packet of the client runs, the last one of a block; nil if it is another command.
    mutating func statement(of packet: [UInt8]) -> String? {
        // Three bytes of length, one of sequence, then the command.
        guard packet.count > 5 else { return nil }
        let (query, prepare, execute) = (UInt8(0x03), UInt8(0x16), UInt8(0x17))
        switch packet[4] {
        case query: return String(decoding: packet[5...], as: UTF8.self)
        case prepare:
            let parts = String(decoding: packet[5...], as: UTF8.self).split(separator: "; ")
            if parts.count > 2, parts.last == "END" { beingPrepared = String(parts[parts.count - 2]) }
            return nil
        case execute: return packet.count > 8 ? lastStatements[packet[5...8]] : nil
        default: return nil
        }
    }

    mutating func note(answer: [UInt8]) {
        guard let statement = beingPrepared else { return }
        beingPrepared = nil
        // 0 for success, then the id.
        if answer.count > 8, answer[4] == 0 { lastStatements[answer[5...8]] = statement }
    }
}

private func withAddress<T>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}

private func receive(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
}

private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
