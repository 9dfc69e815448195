import HTTP
import JSON
import TestSupport
import Testing
import Time

/// From an app's events to their owner and to an agent's lists (analytics §5, §6, §8, §10).
@Suite struct AnalyticsRouteTests {
    @Test(arguments: Doorway.allCases) func eventsAreTakenOnceAndListedInPages(through doorway: Doorway) throws {
        let app = try TestApp(through: doorway)
        let (scene, client) = (try AnalyticsScene(app), app.client())
        let events = (1...5).map {
            scene.event("\($0)", of: "u", id: $0, at: (app.time.now - .seconds(10 - $0)).iso8601)
        }
        let body = scene.ingest(events).body?.json() ?? []
        let headers = [(name: "content-type", value: "application/json")]
        let gzip = headers + [(name: "content-encoding", value: "gzip")]
        let first = client.send(.post, "/v1/ingest", bytes: try gzipped(body), token: scene.clientKey, headers: gzip)
        #expect("\(first)" == #"200 {"accepted":5,"rejected":0}"#)
        let again = client.send(.post, "/v1/ingest", bytes: body, token: scene.clientKey, headers: headers)
        #expect("\(again)" == #"200 {"accepted":0,"rejected":0,"duplicates":5}"#)
        #expect(scene.get("/v1/events/count", client)["count"] == 5)

        var (seen, cursor, pages): ([String], String?, Int) = ([], "", 0)
        while let position = cursor, pages < 10 {
            let page = scene.get("/v1/events?order=asc&limit=2&cursor=\(position)", client)
            #expect(page.status == 200)
            seen += page.all("message", in: "events")
            cursor = page["cursor"]?.string
            #expect(page["has_more"] == .bool(cursor != nil))
            pages += 1
        }
        #expect(seen == ["1", "2", "3", "4", "5"] && pages == 3)
        let other = try AnalyticsScene(app)
        #expect(other.get("/v1/events", client)["events"] == [], "another team's")
    }

    @Test(arguments: Doorway.allCases) func badEventsAreRejectedByIndex(through doorway: Doorway) throws {
        let app = try TestApp(through: doorway)
        let (scene, client) = (try AnalyticsScene(app), app.client())
        let answer = client.send(scene.ingest([.null, scene.event("good"), scene.event("")]))
        #expect(
            answer.json == [
                "accepted": 1, "rejected": 2,
                "errors": [
                    ["index": 0, "message": "events[0]: must be an object"],
                    ["index": 2, "message": "events[2]: message is required and must be a string"],
                ],
            ])
        #expect("\(client.send(scene.ingest([])))" == refusal(400, "events array is required"))
        #expect(
            "\(scene.get("/v1/events?level=x", client))"
                == refusal(400, "Unknown log level(s): x. Allowed: info, debug, warn, error"))
        #expect(
            "\(scene.get("/v1/events", client, token: scene.clientKey))"
                == refusal(403, "Missing permission: events:read"))
        #expect("\(client.send(.get, "/v1/events"))" == refusal(401, "Missing authorization"))
        #expect(client.send(.delete, "/v1/events").header("Allow") == "GET, HEAD")
    }

    @Test(arguments: Doorway.allCases)
    func anAnonymousUsersEventsAndPropertiesAreClaimed(through doorway: Doorway) throws {
        let app = try TestApp(through: doorway)
        let (scene, client) = (try AnalyticsScene(app), app.client())
        _ = client.send(scene.properties("owl_anon_a", ["a": "anonymous", "b": "anonymous"]))
        _ = client.send(scene.properties("u", ["b": "real"]))
        _ = client.send(scene.ingest([scene.event("before", of: "owl_anon_a")]))
        for moved in [1, 0] {
            let answer = client.send(scene.claim("owl_anon_a", "u"))
            #expect("\(answer)" == #"200 {"claimed":true,"events_reassigned_count":\#(moved)}"#)
        }
        _ = client.send(scene.ingest([scene.event("late", of: "owl_anon_a")]))
        let listed = scene.get("/v1/events?user_id=u", client)
        #expect(Set(listed.all("message", in: "events")) == ["before", "late"])
        #expect(client.send(scene.properties("u", [:]))["properties"] == ["a": "anonymous", "b": "real"])
        #expect(try scene.records() == ["owl_anon_a -> u", "u"])
        #expect(
            "\(client.send(scene.claim("owl_anon_b", "owl_anon_a")))"
                == refusal(400, "user_id must not start with anonymous prefix"))
    }

    @Test(arguments: Doorway.allCases) func settingAndDeletingAnswersTheFullState(through doorway: Doorway) throws {
        let app = try TestApp(through: doorway)
        let (scene, client) = (try AnalyticsScene(app), app.client())
        let first = client.send(scene.properties("u", ["plan": "pro", "old": "x", "_x": "1", "asa_y": "2"]))
        #expect("\(first)" == #"200 {"updated":true,"properties":{"plan":"pro","old":"x","_x":"1","asa_y":"2"}}"#)
        let second = client.send(scene.properties("u", ["plan": "free", "old": "", "none": ""]))
        #expect("\(second)" == #"200 {"updated":true,"properties":{"plan":"free","_x":"1","asa_y":"2"}}"#)
        #expect(client.send(scene.properties("u", [:]))["properties"] == ["plan": "free", "_x": "1", "asa_y": "2"])
        #expect(
            "\(client.send(scene.properties("u", ["k": 1])))"
                == refusal(400, "Property value for \"k\" must be a string".replacing("\"", with: "\\\"")))
    }
}
