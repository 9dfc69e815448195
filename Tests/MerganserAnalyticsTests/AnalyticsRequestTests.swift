import FaultProxy
import Foundation
import FoundationNetworking
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
        let start = Date()
        let receipt = try await reporter.sendFeedback("Good.")
        #expect(receipt.id.count == 36)
        // The server's times have no microseconds.
        #expect((start - 0.001...Date()).contains(receipt.created))
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

    /// A large file on a slow network fails for weeks; events go meanwhile.
    @Test func aFileThatFailsHoldsNoEventBack() async throws {
        let deployment = try AnalyticsDeployment()
        let reporter = try deployment.reporter {
            $0.uploadDelay = .milliseconds(10)
            $0.backoff = Backoff(base: .seconds(3600), longest: .seconds(3600), attempts: .max)
        }
        deployment.proxy.arm(.lostRequest, at: "/v1/ingest/attachment", times: 100)
        reporter.track("with a file", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        #expect(await !reporter.flush())
        reporter.track("later")
        for _ in 0..<3000 where try deployment.count("SELECT COUNT(*) FROM events WHERE message = 'later'") < 1 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM events WHERE message = 'later'") == 1)
    }

    /// An upload that takes its time: nothing waits for its end but who asks for it.
    @Test func aSlowUploadHoldsNoEventBack() async throws {
        let deployment = try AnalyticsDeployment()
        let transport = RecordingTransport()
        let reporter = try deployment.reporter {
            $0.uploadDelay = .milliseconds(10)
            $0.transport = transport
        }
        let gate = FaultProxy.Gate()
        deployment.proxy.arm(.none, at: "/v1/ingest/attachment")
        deployment.proxy.arm(.late(gate), at: "/v1/ingest/attachment/")
        reporter.track("with a file", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        #expect(await gate.waitForArrival())
        reporter.track("later")
        for _ in 0..<3000 where try deployment.count("SELECT COUNT(*) FROM events WHERE message = 'later'") < 1 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM events WHERE message = 'later'") == 1)
        gate.open()
        try await deployment.deliver(reporter)
        #expect(try deployment.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 1)
        // From the file, with the patience of a transfer: only what a busy server has not taken (503) is sent again.
        #expect(Set(transport.uploads.withLock { $0 }) == [Data("hello".utf8)])
        let answers = deployment.proxy.exchanges.filter { $0.request.method == "PUT" }.map(\.status)
        #expect(answers.last == 200 && answers.dropLast().allSatisfy { $0 == 503 }, "\(answers)")
    }

    /// The oldest files make room (analytics §17.2).
    @Test func theOldestFilesMakeRoom() throws {
        let directory = try TemporaryDirectory()
        let box = try AttachmentBox(folder: URL(filePath: directory.file("box")), limit: 100)
        let losses = Locked<[EventLoss]>([])
        func add(_ count: Int, _ name: String, at milliseconds: Int64) throws {
            let file = URL(filePath: directory.file(name))
            try Data(repeating: 1, count: count).write(to: file)
            _ = try box.add(
                EventAttachment(file: file), event: UUID().uuidString, user: "u", isDevelopment: true,
                at: milliseconds
            ) { loss in losses.withLock { $0.append(loss) } }
        }
        // What a killed process has not described leaves by itself, a day later.
        try Data(repeating: 1, count: 90).write(to: URL(filePath: directory.file("box/orphan.bytes")))
        for number in 1...4 { try add(40, "\(number)", at: Int64(number)) }
        #expect(box.names.compactMap { box.entry($0)?.filename } == ["3", "4"])
        #expect(losses.withLock { $0.count } == 2)
        // One that is larger than all the room leaves the others.
        #expect(throws: EventLoss.self) { try add(101, "large", at: 5) }
        #expect(box.names.compactMap { box.entry($0)?.filename } == ["3", "4"])
        for name in box.names { #expect(box.entry(name)?.sha256.count == 64) }
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
        // It waits for a month.
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "json" {
            var entry = try JSONDecoder().decode(AttachmentBox.Entry.self, from: Data(contentsOf: file))
            entry.added -= 30 * 86_400_000
            try JSONEncoder().encode(entry).write(to: file)
        }
        let next = try deployment.reporter { $0.clock = clock }
        _ = await next.flush()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["young.bytes"])
        #expect(deployment.losses.withLock { $0 }.contains(.attachment(name: "a", reason: "It waited too long.")))
    }

    /// A refusal that is not the ad network's says nothing of the token.
    @Test func aRefusalOfTheKeyEndsNoAttribution() async throws {
        let network = try LocalHTTPServer { _ in .response(status: 400) }
        let deployment = try AnalyticsDeployment(["MERGANSER_ATTRIBUTION_ENDPOINT": network.url + "/"])
        let reporter = try deployment.reporter()
        for refusal in [(403, "Missing permission"), (400, "App not found")] {
            deployment.proxy.arm(
                .answer(status: refusal.0, headers: [], body: #"{"error":"\#(refusal.1)"}"#), at: "/v1/identity/attr")
            await #expect(throws: AnalyticsError.refused(status: refusal.0, message: refusal.1)) {
                try await reporter.handOverAttribution(token: "t")
            }
            #expect(await reporter.journal.state.attribution[reporter.anonymousID]?.isDone != true)
        }
        #expect(try await reporter.handOverAttribution(token: "t") == .none)
        #expect(await reporter.journal.state.attribution[reporter.anonymousID]?.isDone == true)
    }

    /// Two programs of a user, two servers: whose events wait here goes to no other. An exchanged key strands nothing.
    @Test func programsAndServersHaveFoldersOfTheirOwn() throws {
        let url = try #require(URL(string: "https://id.example.com"))
        var config = AnalyticsConfig(endpoint: url, key: "owl_client_1")
        let first = config.folder
        #expect(first.lastPathComponent.hasPrefix("\(ProcessInfo.processInfo.processName)-"))
        config.key = "owl_client_2"
        #expect(config.folder == first)
        config.endpoint = try #require(URL(string: "https://test.example.com"))
        #expect(config.folder != first)
        config.folder = url
        #expect(config.folder == url)
    }

    /// The app may be anywhere when it reports.
    @Test func lossesAreToldInTheBackground() async throws {
        let deployment = try AnalyticsDeployment()
        let isCalling = Locked(false)
        let (told, tell) = AsyncStream<Bool>.makeStream()
        let reporter = try deployment.reporter { config in
            config.onLoss = { _ in
                // By whom ever waits for the caller; the call itself is over at once.
                for _ in 0..<10_000 where isCalling.withLock({ $0 }) { usleep(1000) }
                tell.yield(isCalling.withLock { $0 })
            }
        }
        isCalling.withLock { $0 = true }
        reporter.update(["": "no key"])
        isCalling.withLock { $0 = false }
        for await wasCalling in told {
            #expect(!wasCalling)
            break
        }
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

/// Carries requests, and notes the files that it uploads.
private final class RecordingTransport: Transport {
    let uploads = Locked<[Data]>([])
    private let carrier = URLSessionTransport(timeout: .seconds(600))

    var timeout: Duration { carrier.timeout }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) { try await carrier.send(request) }

    func upload(_ request: URLRequest, from file: URL) async throws -> (Data, HTTPURLResponse) {
        let content = try Data(contentsOf: file)
        uploads.withLock { $0.append(content) }
        return try await carrier.upload(request, from: file)
    }
}
