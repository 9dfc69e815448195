import Foundation
import TestSupport
import Testing

/// Which sockets an instance takes over, and what it does with their files.
@Suite struct ListeningSocketTests {
    @Test func onlyNginxMayConnect() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        // Only root may hand a file to a group it is not in.
        let group = geteuid() == 0 ? "www-data" : String(cString: getgrgid(getegid()).pointee.gr_name)
        let server = try EchoServer(at: path, options: ["--group", group])
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode == S_IFSOCK | 0o660)
        #expect(status.st_gid == getgrnam(group).pointee.gr_gid)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["echo.sock"])
        #expect(try server.connect().ask()?.status == 200)
    }

    @Test func aSuccessorTakesThePathAndKeepsIt() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        let blue = try EchoServer(at: path)
        let green = try EchoServer(at: path)
        try blue.end()
        #expect(try green.connect().ask()?.header("X-Instance") == String(green.process.pid))
        try green.end()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func whatAKilledInstanceLeavesIsTakenOver() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        let blue = try EchoServer(at: path)
        blue.process.kill()
        try blue.process.waitForExit()
        let green = try EchoServer(at: path)
        #expect(try green.connect().ask()?.status == 200)
    }

    @Test func aStrangersFileAtThePathStays() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        let server = try EchoServer(at: path)
        try FileManager.default.removeItem(atPath: path)
        try directory.write("mine", to: "echo.sock")
        try server.end()
        #expect(directory.text("echo.sock") == "mine")
    }

    /// Clients that connected before the replacement, while all workers were busy.
    @Test func aReplacedInstanceServesWhoWaitsInItsQueue() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        let blue = try EchoServer(at: path, threads: 1)
        let busy = try blue.connect()
        try busy.send(FastCGIClient.request("GET", "/late/500", keep: false))
        let waiting = try (0..<20).map { _ in
            let client = try blue.connect()
            try client.send(FastCGIClient.request("GET", "/", keep: false))
            return client
        }
        let green = try EchoServer(at: path)
        blue.process.terminate()
        for client in [busy] + waiting {
            #expect(try client.receiveAnswer()?.header("X-Instance") == String(blue.process.pid))
        }
        #expect(try blue.waitForEnd() == Drained(requests: 21, cut: 0, aborted: 0))
        #expect(try green.connect().ask()?.header("X-Instance") == String(green.process.pid))
    }

    /// The holder of a shared socket keeps its queue while no instance runs.
    @Test func whoWaitsAtASharedSocketIsServedByTheNextInstance() throws {
        let listener = try Listener()
        let blue = try EchoServer(inheriting: listener.path, socket: listener.descriptor)
        #expect(try blue.connect().ask()?.status == 200)
        try blue.end()
        let client = try FastCGIClient(listener.path)
        try client.send(FastCGIClient.request("GET", "/"))
        let green = try EchoServer(inheriting: listener.path, input: listener.descriptor)
        #expect(try client.receiveAnswer()?.header("X-Instance") == String(green.process.pid))
    }

    @Test(arguments: ["file", "directory", "link"])
    func aPathThatIsNoSocketIsRefused(_ kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        switch kind {
        case "file": try directory.write("mine", to: "echo.sock")
        case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        }
        let outcome = try ChildProcess.run(EchoServer.program, ["--socket", path])
        #expect(outcome.exit == .status(1))
        #expect(outcome.errorOutput == "\(path) exists and is not a socket; remove it or choose another path\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["echo.sock"])
    }

    @Test func aPathThatCannotBeMadeIsNamed() throws {
        let directory = try TemporaryDirectory()
        for (path, options, message) in [
            (directory.file("no/echo.sock"), [], "No such file or directory"),
            (directory.file(String(repeating: "s", count: 100)), [], "is too long for the path of a socket"),
            (directory.file("echo.sock"), ["--group", "no-such-group"], "there is no group no-such-group"),
        ] {
            let outcome = try ChildProcess.run(EchoServer.program, ["--socket", path] + options)
            #expect(outcome.exit == .status(1) && outcome.errorOutput.contains(message), "\(outcome)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test(arguments: [true, false]) func onlyListeningUnixStreamsAreInherited(isAnnounced: Bool) throws {
        for (family, type, listens, message) in [
            (AF_UNIX, SOCK_STREAM, false, "does not listen"),
            (AF_INET, SOCK_STREAM, true, "is not a unix stream socket"),
            (AF_UNIX, SOCK_SEQPACKET, true, "is not a unix stream socket"),
        ] {
            let descriptor = socket(family, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            if listens {
                // Linux binds an unbound socket by itself: TCP to a free port, a unix socket to a free abstract name.
                var family = sa_family_t(family)
                if family == AF_UNIX {
                    #expect(
                        withUnsafePointer(to: &family) {
                            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 2) }
                        } == 0)
                }
                try #require(listen(descriptor, 1) == 0)
            }
            let process = try ChildProcess(
                EchoServer.program, ["--inherited"], input: isAnnounced ? nil : descriptor,
                socket: isAnnounced ? descriptor : nil)
            let exit = try process.waitForExit()
            // A standard input that does not listen is just that.
            let expected = isAnnounced || listens ? message : "nothing was inherited"
            #expect(exit == .status(1) && process.errorOutput.contains(expected), "\(process.errorOutput)")
        }
    }

    @Test func socketsAnnouncedToAnotherProcessAreNotTaken() throws {
        let listener = try Listener()
        for environment in [["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"]] {
            let outcome = try ChildProcess.run(EchoServer.program, ["--inherited"], environment: environment)
            #expect(outcome.exit == .status(1) && outcome.errorOutput == "nothing was inherited\n")
        }
        // The announcement for somebody else does not stand in the way of descriptor 0.
        let server = try EchoServer(
            inheriting: listener.path, input: listener.descriptor, environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"])
        #expect(try server.connect().ask()?.status == 200)
    }
}
