import JSON
import TestSupport
import Testing

@Suite struct ServerControlTests {
    @Test func answersItsThreePathsOnly() throws {
        let installation = try Installation(["MERGANSER_INSTANCE": "blue"])
        let server = try installation.readyServer()
        let health = try #require(try installation.control("/healthz"))
        #expect(health.status == 200)
        #expect(health.body == ["status": "alive", "instance": "blue"])
        let ready = try #require(try installation.control("/readyz"))
        #expect(ready.status == 200)
        #expect(ready.body == ["ready": true, "instance": "blue", "missing": []])
        for path in ["/", "/healthz/", "/api/v1/me", "/metrics/x"] {
            #expect(try installation.ask("GET", path, at: "control.sock").status == 404)
        }
        let refused = try installation.ask("POST", "/readyz", body: "{}", at: "control.sock")
        #expect(refused.status == 405)
        #expect(refused.header("Allow") == "GET, HEAD")
        // And nginx's socket answers none of them.
        for path in ["/healthz", "/readyz", "/metrics"] {
            #expect(try installation.ask("GET", path).status == 404)
        }
        #expect(server.isRunning)
    }

    @Test func metricsCountWhatHappened() throws {
        let installation = try Installation(["MERGANSER_INSTANCE": "blue"])
        let server = try installation.readyServer()
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000005")
        for _ in 0..<3 {
            _ = try installation.ask("GET", "/api/v1/me", headers: [("HTTP_AUTHORIZATION", "Bearer \(pak)")])
        }
        _ = try installation.ask("GET", "/api/v1/me")
        _ = try installation.ask("GET", "/nowhere/\(pak)")

        var answer = try installation.ask("GET", "/metrics", at: "control.sock")
        // An answer is there a moment before its worker is free.
        try server.wait(for: "free workers") {
            answer = try installation.ask("GET", "/metrics", at: "control.sock")
            return String(decoding: answer.body, as: UTF8.self).contains("\nmerganser_requests_in_flight 0\n")
        }
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        let text = String(decoding: answer.body, as: UTF8.self)
        let metrics = try Exposed(text)
        func requests(_ route: String, _ method: String, _ status: Int) -> Double? {
            metrics["merganser_requests_total", #"{route="\#(route)",method="\#(method)",status="\#(status)"}"#]
        }
        #expect(requests("/api/v1/devices", "POST", 200) == 1)
        #expect(requests("/api/v1/me", "GET", 200) == 3)
        #expect(requests("/api/v1/me", "GET", 401) == 1)
        #expect(requests("unmatched", "other", 404) == 1)
        #expect(!text.contains(pak))

        let labels = #"route="/api/v1/me",method="GET",status="200""#
        let buckets = metrics.samples.filter {
            $0.name == "merganser_request_duration_seconds_bucket" && $0.labels.hasPrefix("{\(labels),le=")
        }
        #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
        #expect(buckets.last?.labels == "{\(labels),le=\"+Inf\"}" && buckets.last?.value == 3)
        #expect(metrics["merganser_request_duration_seconds_count", "{\(labels)}"] == 3)
        let sum = try #require(metrics["merganser_request_duration_seconds_sum", "{\(labels)}"])
        #expect(sum > 0 && sum < 60)

        #expect(metrics.samples.contains { $0.name == "merganser_build_info" && $0.labels.contains(#"name="blue""#) })
        #expect(metrics["merganser_ready"] == 1)
        #expect(metrics["merganser_worker_threads"] == 4)
        #expect(metrics["merganser_requests_in_flight"] == 0)
        #expect(metrics["merganser_request_wait_seconds_count"] == 6)
        #expect(metrics["merganser_requests_shed_total"] == 0)
        #expect(metrics["merganser_database_transactions_total"] == 1)
        for name in ["retries", "deadlocks", "lock_timeouts", "exhaustions", "unknown_outcomes", "reconnects"] {
            #expect(metrics["merganser_database_\(name)_total"] == 0, "\(name)")
        }
        // The phone's registration alone takes a handful.
        #expect(try #require(metrics["merganser_database_statements_total"]) > 5)
        #expect(metrics["merganser_database_slow_statements_total"] == 0)
        let open = try #require(metrics["merganser_database_connections_open"])
        #expect((2...5).contains(open))
        #expect(metrics["merganser_key_set_ready", #"{provider="apple"}"#] == 1)
        #expect(metrics["merganser_key_set_keys", #"{provider="apple"}"#] == 2)
        let age = try #require(metrics["merganser_key_set_age_seconds", #"{provider="apple"}"#])
        #expect((0..<60).contains(age))
        #expect(try #require(metrics["merganser_uptime_seconds"]) > 0)
        #expect(try #require(metrics["process_cpu_seconds_total"]) < 60)
        let memory = try #require(metrics["process_resident_memory_bytes"])
        #expect((4e6..<4e9).contains(memory))
        let descriptors = try #require(metrics["process_open_fds"])
        let limit = try #require(metrics["process_max_fds"])
        #expect(descriptors > 5 && descriptors < limit)
        #expect(server.isRunning)
    }
}
