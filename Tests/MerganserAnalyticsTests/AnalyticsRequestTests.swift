import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAnalytics

/// What an app asks and waits for, and the files of events.
@Suite struct AnalyticsRequestTests {
    @Test func feedbackIsSentOnce() async throws {
        let deployment = try AnalyticsDeployment()
        let reporter = try deployment.reporter()
        await #expect(throws: AnalyticsError.emptyMessage) { try await reporter.sendFeedback(" \n") }
        let receipt = try await reporter.sendFeedback("Good.")
        #expect(receipt.id.count == 36)
        #expect(abs(receipt.created.timeIntervalSinceNow) < 60)
        await #expect(
            throws: AnalyticsError.refused(status: 400, message: "submitter_email is not a valid email address")
        ) { try await reporter.sendFeedback("Good.", email: "nobody") }
        deployment.proxy.arm(.lostAnswer, at: "/v1/feedback")
        await #expect(throws: AnalyticsError.offline) { try await reporter.sendFeedback("Lost.") }
        #expect(deployment.proxy.count("/v1/feedback") == 3)
    }

    @Test func aQuestionnaireIsAnsweredInTwoSteps() async throws {
        let deployment = try AnalyticsDeployment()
        let reporter = try deployment.reporter()
        guard case .ask(let questionnaire, let saved) = try await reporter.questionnaire("exit-survey") else {
            Issue.record("not asked")
            return
        }
        #expect(questionnaire.schema.questions.map(\.id) == ["why", "details", "stars", "nps"])
        #expect(questionnaire.schema.questions[0].options?.map(\.id) == ["price", "missing"])
        #expect(saved.isEmpty)
        // Lost and repeated: it is one response.
        deployment.proxy.arm(.lostAnswer, at: "/v1/questionnaires/exit-survey/responses")
        let draft = try await reporter.save(["stars": .number(4)], of: "exit-survey", isComplete: false)
        #expect(!draft.wasSubmitted)
        guard case .ask(_, let present) = try await reporter.questionnaire("exit-survey") else {
            Issue.record("not asked again")
            return
        }
        #expect(present == ["stars": .number(4)])
        await #expect(throws: AnalyticsError.refused(status: 400, message: #""why" is required"#)) {
            try await reporter.save([:], of: "exit-survey", isComplete: true)
        }
        let done = try await reporter.save(["why": .text("price")], of: "exit-survey", isComplete: true)
        #expect(done.wasSubmitted)
        #expect(done.id == draft.id)
        #expect(try await reporter.questionnaire("exit-survey") == .doNotAsk(reason: "already_responded"))
        await #expect(throws: AnalyticsError.refused(status: 404, message: "Questionnaire not found")) {
            try await reporter.questionnaire("no-such")
        }
        try await reporter.dismissQuestionnaires()
        reporter.signIn("user-2")
        #expect(try deployment.count("SELECT COUNT(*) FROM questionnaire_responses") == 1)
    }

    /// The ad network's answers, one after the other (analytics §7).
    @Test func attributionIsHandedOverUntilTheNetworkKnows() async throws {
        let answers = Locked<[Int]>([404, 404, 200])
        let network = try LocalHTTPServer { _ in
            let status = answers.withLock { $0.isEmpty ? 500 : $0.removeFirst() }
            return .response(status: status, body: Array(#"{"attribution":false}"#.utf8))
        }
        let deployment = try AnalyticsDeployment(["MERGANSER_ATTRIBUTION_ENDPOINT": network.url + "/"])
        let reporter = try deployment.reporter()
        #expect(try await reporter.handOverAttribution(token: "t") == .pending)
        #expect(try await reporter.handOverAttribution(token: "t") == .pending)
        #expect(
            try await reporter.handOverAttribution(token: "t") == .known(["attribution_source": "none"]))
        #expect(await reporter.journal.state.attribution[reporter.anonymousID] == .init(isDone: true, pending: 2))
        // 502: nobody knows anything.
        await #expect(throws: AnalyticsError.offline) {
            try await deployment.reporter("another").handOverAttribution(token: "t")
        }
    }

    @Test func aNetworkThatNeverKnowsIsAskedFiveTimes() async throws {
        let network = try LocalHTTPServer { _ in .response(status: 404) }
        let deployment = try AnalyticsDeployment(["MERGANSER_ATTRIBUTION_ENDPOINT": network.url + "/"])
        for launch in 1...5 {
            let reporter = try deployment.reporter()
            #expect(try await reporter.handOverAttribution(token: "t") == (launch < 5 ? .pending : .none))
            try await deployment.deliver(reporter)
        }
        #expect(try deployment.text("SELECT properties FROM app_users") == #"{"attribution_source":"none"}"#)
        let outcomes = try deployment.events().compactMap {
            ($0["custom_attributes"] as? [String: String])?["_outcome"]
        }
        #expect(outcomes == ["pending", "pending", "pending", "pending", "gave_up"])
    }

    /// Every request of an upload is lost once, or its answer.
    @Test(arguments: [false, true])
    func aFileOfAnEventArrives(isAnswer: Bool) async throws {
        let deployment = try AnalyticsDeployment()
        let reporter = try deployment.reporter()
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("from a file".utf8).write(to: file)
        reporter.track("Upload failed", level: .error, attachments: [EventAttachment(file: file, name: "log.txt")])
        reporter.track(
            "Refused", attachments: [EventAttachment(Data([1]), name: "a", contentType: "application/x-sh")])
        reporter.track("Empty", attachments: [EventAttachment(Data(), name: "empty")])
        await reporter.persist()
        try FileManager.default.removeItem(at: file)
        deployment.proxy.arm(isAnswer ? .lostAnswer : .lostRequest, at: "/v1/ingest/attachment")
        #expect(await !reporter.flush())
        deployment.proxy.arm(.none, at: "/v1/ingest/attachment")
        deployment.proxy.arm(isAnswer ? .lostAnswer : .lostRequest, at: "/v1/ingest/attachment/")
        #expect(await !reporter.flush())
        // The next launch goes on.
        try await deployment.deliver(try deployment.reporter())
        #expect(
            try deployment.text(
                """
                SELECT CONCAT(original_filename, ' ', size_bytes, ' ', events.message) FROM event_attachments
                JOIN events ON events.id = event_id WHERE uploaded_at IS NOT NULL
                """) == "log.txt 11 Upload failed")
        #expect(try deployment.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 1)
        let reasons = deployment.losses.withLock { losses in
            losses.compactMap { if case .attachment(let name, let reason) = $0 { "\(name): \(reason)" } else { nil } }
        }
        #expect(
            reasons.sorted() == [
                #"a: Content-Type "application/x-sh" is not allowed for attachments"#, "empty: It is empty.",
            ])
        let left = try FileManager.default.contentsOfDirectory(
            atPath: deployment.folder().appending(path: "attachments").path)
        #expect(left.isEmpty)
    }

    /// The server forgets a reservation after a day (analytics §14.3).
    @Test func aLapsedReservationIsMadeAgain() async throws {
        let deployment = try AnalyticsDeployment()
        let reporter = try deployment.reporter()
        reporter.track("event", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        deployment.proxy.arm(.none, at: "/v1/ingest/attachment")
        deployment.proxy.arm(.lostRequest, at: "/v1/ingest/attachment/")
        #expect(await !reporter.flush())
        try deployment.run("DELETE FROM event_attachments")
        try await deployment.deliver(reporter)
        #expect(try deployment.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 1)
    }

    /// A process was killed before it described the bytes, and a file waited for a month.
    @Test func leftOversAndOldFilesGo() async throws {
        let deployment = try AnalyticsDeployment()
        let folder = deployment.folder().appending(path: "attachments")
        let clock = ShiftedClock()
        let reporter = try deployment.reporter { $0.clock = clock }
        reporter.track("event", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        await reporter.persist()
        for (name, age) in [("old", 100_000.0), ("young", 0)] {
            let file = folder.appending(path: "\(name).bytes").path
            try #require(FileManager.default.createFile(atPath: file, contents: Data([1])))
            try FileManager.default.setAttributes([.modificationDate: Date() - age], ofItemAtPath: file)
        }
        clock.shift(by: 30 * 86_400)
        let next = try deployment.reporter { $0.clock = clock }
        _ = await next.flush()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["young.bytes"])
        #expect(deployment.losses.withLock { $0 }.contains(.attachment(name: "a", reason: "It waited too long.")))
    }

    @Test func whatCannotWorkIsRefused() throws {
        for endpoint in ["http://id.example.com", "ftp://id.example.com", "https:", "id.example.com"] {
            let url = try #require(URL(string: endpoint))
            #expect(throws: AnalyticsError.configurationRefused) {
                try AnalyticsReporter(AnalyticsConfig(endpoint: url, key: "owl_client_1"))
            }
        }
        let url = try #require(URL(string: "https://id.example.com"))
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data().write(to: file)
        #expect(throws: AnalyticsError.self) {
            try AnalyticsReporter(AnalyticsConfig(endpoint: url, key: "owl_client_1", folder: file))
        }
    }
}
