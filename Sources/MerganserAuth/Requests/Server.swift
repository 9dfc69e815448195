import Foundation
import MerganserClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the server, repeats what may be repeated, and learns its time.
struct Server: Sendable {
    /// The issuer.
    let base: URL
    let clock: ServerClock
    let transport: any Transport
    private let device: any DeviceClock
    private let backoff: Backoff

    init(
        _ base: URL, transport: any Transport, clock: ServerClock, device: any DeviceClock, backoff: Backoff = Backoff()
    ) {
        self.base = base
        self.clock = clock
        self.transport = transport
        self.device = device
        self.backoff = backoff
    }

    /// Sends a request until there is a definite answer.
    ///
    /// - Parameter isWanted: asked before each time; false ends it as if there were no answer, and so does what it throws.
    /// - Throws: `offline` if there was no answer, `server` with the last answer that was not definite.
    nonisolated(nonsending) func answer(to call: Call, while isWanted: () throws -> Bool = { true }) async throws
        -> Answer
    {
        let request = try call.request(below: base, timeout: transport.timeout)
        var attempt = 1
        var answer: Answer?
        while try isWanted() {
            answer = try await once(request)
            if let answer, answer.isDefinite { return answer }
            guard call.isRepeatable, let wait = backoff.wait(after: attempt, asked: answer?.retryAfter) else { break }
            try await device.sleep(for: wait)
            attempt += 1
        }
        throw answer?.error ?? .offline
    }

    /// Sends a request once, whose answer may be large.
    ///
    /// - Parameter file: made or replaced; the body of a 200, in JSON.
    /// - Returns: without its body, if that is in the file.
    /// - Throws: `offline` if there was no answer, or not all of it; `server` if it is not definite.
    nonisolated(nonsending) func download(_ call: Call, to file: URL) async throws -> Answer {
        let request = try call.request(below: base, timeout: transport.timeout)
        let answer = try await received { () async throws -> (Data, HTTPURLResponse) in
            let response = try await transport.download(request, to: file)
            let isDocument = response.statusCode == 200 && response.mimeType == "application/json"
            if isDocument { return (Data("{}".utf8), response) }
            // A refusal, or whatever a network's own server says.
            let refusal = try FileHandle(forReadingFrom: file)
            defer { try? refusal.close() }
            return (try refusal.read(upToCount: 65_536) ?? Data(), response)
        }
        guard let answer else { throw MerganserError.offline }
        guard answer.isDefinite else { throw answer.error }
        return answer
    }

    /// nil if there was no answer.
    private func once(_ request: URLRequest) async throws -> Answer? {
        try await received { try await transport.send(request) }
    }

    private nonisolated(nonsending) func received(
        _ send: () async throws -> (Data, HTTPURLResponse)
    ) async throws -> Answer? {
        let sent = device.uptime
        do {
            let (body, response) = try await send()
            clock.learn(from: response.value(forHTTPHeaderField: "Date"), sent: sent)
            return Answer(response, body)
        } catch {
            try Task.checkCancellation()
            return nil
        }
    }

    /// Time since some moment, in this process.
    var uptime: Duration { device.uptime }

    /// What the device believes the time to be: the same for every process on it.
    var deviceDate: Date { device.date }

    func pause(_ duration: Duration) async throws { try await device.sleep(for: duration) }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}

/// What the server said.
struct Answer: Sendable {
    let status: Int
    let body: Data
    let requestID: String?
    let retryAfter: Duration?
    /// Whether a 401 is about the request's own credential (RFC 6750 §3).
    let hasChallenge: Bool
    /// Whether the server decided.
    let isDefinite: Bool

    init(_ response: HTTPURLResponse, _ body: Data) {
        status = response.statusCode
        self.body = body
        requestID = response.value(forHTTPHeaderField: "X-Request-Id")
        retryAfter = response.retryAfter
        hasChallenge = response.value(forHTTPHeaderField: "WWW-Authenticate") != nil
        isDefinite = response.isDefinite(body)
    }

    private struct Refusal: Decodable {
        let error: String
        let errorDescription: String?
        let purgeAt: Date?
    }

    private var refusal: Refusal? { try? Server.decoder.decode(Refusal.self, from: body) }

    /// The error code, if there is one.
    var code: String? { refusal?.error }
    var description: String? { refusal?.errorDescription }

    var error: MerganserError {
        if let refusal, refusal.error == "account_deleted", let purgeAt = refusal.purgeAt {
            return .accountDeleted(purgeAt: purgeAt)
        }
        return .server(status: status, code: code, requestID: requestID)
    }

    /// The body of a 2xx.
    ///
    /// - Throws: `server` for any other status, and if the body has another shape.
    func decoded<Reply: Decodable>(_ type: Reply.Type) throws(MerganserError) -> Reply {
        guard (200..<300).contains(status) else { throw error }
        do { return try Server.decoder.decode(type, from: body) } catch { throw self.error }
    }
}
