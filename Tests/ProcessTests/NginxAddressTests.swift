import Fetch
import TestSupport
import Testing

/// What the limits count as one client: an IPv4 address, or a 64-bit network of IPv6.
@Suite struct NginxAddressTests {
    /// Every limit allows one request, or one at a time. The tests' own address may name the client's address.
    private func makeFront() throws -> Front {
        try Front(.production) {
            $0.replacing(/rate=\d+r\/s/, with: "rate=1r/m").replacing(/burst=\d+ nodelay/, with: "")
                .replacing(/limit_conn (\w+) \d+;/) { "limit_conn \($0.1) 1;" }
        }
    }

    /// Each entry has addresses of one client, and addresses of others.
    static let clients: [(same: [String], others: [String])] = [
        (
            ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:0DB8:0001:0002:0:0:0:3"],
            ["2001:db8:1:3::1", "2001:db8:1:1:ffff:ffff:ffff:ffff", "2001:db8:1::", "2001:db8:2:2::1"]
        ),
        // Zeros are left out before, across and after the middle.
        (["2001:db8::1", "2001:db8:0:0:1::", "2001:db8::1:0:0:1"], ["2001:db8:0:1::1", "2001:db8:1::1", "2001::1"]),
        (["1:2:3:4:5:6:7:8", "1:2:3:4::", "1:2:3:4::8"], ["1:2:3::", "1:2:3:5::", "::1:2:3:4"]),
        (["::1:0:0:0:1", "0:0:0:1::"], ["::1", "0:0:0:2::"]),
        (["::1", "::5", "::"], ["0:0:0:1::", "1::"]),
        // Bytes that mean something to a regular expression: a line feed, a carriage return, a dollar sign.
        (["a0a:a0a:a0a:a0a::1", "a0a:a0a:a0a:a0a:a0a:a0a:a0a:a0a"], ["a0a:a0a:a0a:a0d::1", "a0a:a0a:a0a:24::1"]),
        (["192.0.2.1"], ["192.0.2.2", "192.0.3.1"]),
        (
            ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "64:ff9b::192.0.2.1"],
            ["::ffff:192.0.2.2", "64:ff9b::192.0.2.3"]
        ),
        (
            ["10.10.10.10", "::ffff:10.10.10.10"],
            ["::ffff:10.10.10.13", "::fffe:10.10.10.10", "64:ff9b:1::10.10.10.10"]
        ),
        (["0.0.0.0", "::ffff:0.0.0.0"], ["::ffff:0.0.0.1", "64:ff9b::0.0.0.2"]),
    ]

    @Test(arguments: clients) func oneClientIsOneNetwork(_ addresses: (same: [String], others: [String])) throws {
        let front = try makeFront()
        defer { withExtendedLifetime(front) {} }
        func isLimited(_ address: String) throws -> Bool {
            try front.post("/api/v1/devices", headers: [("X-Forwarded-For", address)]).status == 429
        }
        #expect(try addresses.same.map(isLimited) == addresses.same.indices.map { $0 > 0 }, "\(addresses.same)")
        for address in addresses.others { #expect(try !isLimited(address), "\(address)") }
    }

    /// The server derives the client's network from the address that nginx passes on, and limits each network's share
    /// of the workers.
    @Test(arguments: clients)
    func theServersClientsAreThoseOfNginx(_ addresses: (same: [String], others: [String])) throws {
        let front = try Front(.production)
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        func network(_ address: String) throws -> IPAddress {
            let answer = try front.get("/api/v1/me", headers: [("X-Forwarded-For", address)])
            let remote = try #require(answer.header("x-remote"))
            return try #require(IPAddress(remote), "\(address) is handed over as \(remote)").network
        }
        let client = try network(addresses.same[0])
        for address in addresses.same { #expect(try network(address) == client, "\(address)") }
        for address in addresses.others { #expect(try network(address) != client, "\(address)") }
    }

    @Test(arguments: ["/api/v1/devices", "/oauth/authorize", "/v1/projects"])
    func everyRateIsOfAClient(path: String) throws {
        let front = try makeFront()
        defer { withExtendedLifetime(front) {} }
        let statuses = try ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map {
            try front.post(path, headers: [("X-Forwarded-For", $0)]).status
        }
        #expect(statuses == [503, 429, 503])
    }

    /// Uploads have a number of their own beside that of all connections.
    @Test(arguments: [
        ("POST", "/v1/import", "merganser_addresses"),
        ("PUT", "/v1/ingest/attachment/018f3f1c-0000-7000-8000-000000000000", "merganser_uploads"),
    ])
    func everyNumberOfConnectionsIsOfAClient(method: String, path: String, zone: String) throws {
        let front = try Front(.production) {
            $0.replacing(
                "limit_conn \(zone) \(zone == "merganser_uploads" ? 8 : 100);", with: "limit_conn \(zone) 1;")
        }
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        let held = try front.connect()
        try held.send(
            Array(
                """
                \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 2001:db8::1\r\n\
                Content-Length: 1\r\nExpect: 100-continue\r\n\r\n
                """.utf8))
        #expect(try held.receiveAnswer().status == 100)
        let statuses = try ["2001:db8::2", "2001:db8:0:1::1"].map {
            try front.connect().ask(method, path, headers: [("X-Forwarded-For", $0)]).status
        }
        #expect(statuses == [429, 200])
    }

    /// What docs/machines.md says of a balancer that passes TCP on.
    @Test func aBalancerNamesTheClientByThePROXYProtocol() throws {
        let front = try Front(.production) {
            $0.replacing("listen 443 ssl http2;", with: "listen 127.0.0.1:@PORT@ proxy_protocol;")
                .replacing("real_ip_header X-Forwarded-For;", with: "real_ip_header proxy_protocol;")
        }
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        let balancer = try front.connect()
        try balancer.send(Array("PROXY TCP4 198.51.100.7 192.0.2.1 50000 443\r\n".utf8))
        let answer = try balancer.ask("GET", "/api/v1/me", headers: [("X-Forwarded-For", "203.0.113.9")])
        #expect(answer.header("x-remote") == "198.51.100.7")
    }
}
