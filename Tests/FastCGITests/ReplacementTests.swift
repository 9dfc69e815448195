import Glibc
import TestSupport
import Testing

/// Instances replace each other behind nginx, under traffic. No request is lost.
@Suite(.serialized) struct ReplacementTests {
    /// nginx in front of a socket, with the project's FastCGI configuration.
    ///
    /// - Parameter keepalive: the settings of kept connections. By default they are kept so briefly that some open and
    ///   close during every replacement.
    private static func nginx(
        _ socket: String, keepalive: String = "keepalive 64; keepalive_timeout 1s; keepalive_requests 50;"
    ) throws -> Nginx {
        try Nginx { port in
            """
            worker_processes 2;
            events { worker_connections 1024; }
            http {
                \(Nginx.ownFolders)
                access_log off;
                client_body_buffer_size 64k;
                include \(Repository.root)/nginx/merganser/fastcgi.conf;
                upstream echo {
                    server unix:\(socket) max_fails=0;
                    \(keepalive)
                }
                server {
                    listen 127.0.0.1:\(port);
                    location / { fastcgi_pass echo; }
                }
            }
            """
        }
    }

    /// Replaces the instance twenty times while clients post, each time after the present one has answered a request.
    private func replaceTwentyTimes(_ socket: String, _ start: () throws -> EchoServer) throws {
        let nginx = try ReplacementTests.nginx(socket)
        var instances = [try start()]
        let load = Load(port: nginx.port, clients: 8)
        for generation in 0...20 {
            let instance = instances[generation].process
            try instance.wait(for: "requests on instance \(generation)") { load.result.answers(of: instance) >= 100 }
            if generation == 20 { break }
            instances.append(try start())
            instance.terminate()
        }
        let result = load.stop()
        instances[20].process.terminate()

        #expect(result.failures.isEmpty)
        #expect(nginx.errorLog.isEmpty, "\(nginx.errorLog)")
        for instance in instances {
            let served = result.answers(of: instance.process)
            #expect(try instance.waitForEnd() == Drained(requests: served, cut: 0, aborted: 0))
        }
    }

    @Test func takeoverLosesNothing() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        try replaceTwentyTimes(path) { try EchoServer(at: path) }
        #expect(access(path, F_OK) != 0, "the last instance frees the path")
    }

    @Test func aSharedListenerLosesNothing() throws {
        let listener = try Listener()
        try replaceTwentyTimes(listener.path) {
            try EchoServer(inheriting: listener.path, socket: listener.descriptor)
        }
        #expect(access(listener.path, F_OK) == 0, "the path of a shared socket is its holder's")
    }

    /// If requests come one by one, nginx would use one connection forever. Only keepalive_time ends it.
    @Test func littleTrafficDelaysADrainBySecondsOnly() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("echo.sock")
        let blue = try EchoServer(at: path, drainLimit: .seconds(20))
        let nginx = try ReplacementTests.nginx(
            path, keepalive: "include \(Repository.root)/nginx/merganser/keepalive.conf;")
        let load = Load(port: nginx.port, clients: 1, pause: 50_000)
        try blue.process.wait(for: "requests on blue") { load.result.answers(of: blue.process) >= 10 }
        let green = try EchoServer(at: path)
        #expect(try blue.end().cut == 0)
        try green.process.wait(for: "requests on green") { load.result.answers(of: green.process) >= 10 }
        #expect(load.stop().failures.isEmpty)
    }

    @Test func aKilledInstanceCostsItsRequestsInFlightOnly() throws {
        let listener = try Listener()
        // The kernel prefers who listened first, so that one is kept busy.
        let blue = try EchoServer(inheriting: listener.path, socket: listener.descriptor, threads: 1)
        let green = try EchoServer(inheriting: listener.path, socket: listener.descriptor)
        let nginx = try ReplacementTests.nginx(listener.path)
        let clients = 8
        let load = Load(port: nginx.port, clients: clients)
        try green.process.wait(for: "requests on both") {
            load.result.answers(of: blue.process) >= 100 && load.result.answers(of: green.process) >= 100
        }
        blue.process.kill()
        #expect(try blue.process.waitForExit() == .signal(SIGKILL))
        let answers = load.result.answers
        try green.process.wait(for: "requests after the kill") { load.result.answers >= answers + 1_000 }
        let result = load.stop()
        // Each client has one request under way.
        #expect(result.failures.count <= clients, "\(result.failures)")
        #expect(try green.end().cut == 0)
    }
}
