package import Foundation
package import MerganserClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests to `/v1` of a server, one at a time, as one client key.
package struct AnalyticsServer: Sendable {
    package struct Request: Sendable {
        var method: String
        /// With its query, below the server's base URL.
        var path: String
        var body: [UInt8]
        /// Its content is the body.
        var file: URL?
        var contentType: String
        var mayBeCompressed: Bool

        init(
            method: String = "POST", path: String, body: [UInt8] = [], contentType: String, mayBeCompressed: Bool
        ) {
            (self.method, self.path, self.body) = (method, path, body)
            (self.contentType, self.mayBeCompressed) = (contentType, mayBeCompressed)
        }

        /// With a file, which is never held in memory, and which may take its time.
        init(method: String, path: String, file: URL) {
            self.init(method: method, path: path, contentType: "application/octet-stream", mayBeCompressed: false)
            self.file = file
        }

        /// With a body of JSON.
        package init(method: String = "POST", path: String, body: [UInt8] = []) {
            self.init(method: method, path: path, body: body, contentType: "application/json", mayBeCompressed: true)
        }
    }

    /// What became of a request.
    package enum Outcome: Sendable {
        /// It did what was asked: 2xx.
        case done(Data)
        /// It will not be accepted later either, or only with another key (401): 4xx.
        case refused(status: Int, Data)
        /// No answer, or one that decides nothing.
        case undecided(status: Int?, retryAfter: Duration?)
    }

    let base: URL
    let key: String
    let transport: any Transport
    private let clock: EventClock?

    /// - Parameter clock: hears the time of answers.
    package init(base: URL, key: String, transport: any Transport, clock: EventClock? = nil) {
        (self.base, self.key, self.transport, self.clock) = (base, key, transport, clock)
    }

    /// Smaller bodies are not worth it; the deployed clients compress from here, too.
    static let worthCompressing = 512

    package func send(_ request: Request) async -> Outcome {
        guard let url = URL(string: base.withoutFinalSlash + request.path) else { return .refused(status: 0, Data()) }
        var sent = URLRequest(url: url, timeoutInterval: transport.timeout.seconds)
        sent.httpMethod = request.method
        sent.httpShouldHandleCookies = false
        sent.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        sent.setValue("application/json", forHTTPHeaderField: "Accept")
        if request.method != "GET" {
            sent.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
            if request.mayBeCompressed, request.body.count >= Self.worthCompressing {
                sent.setValue("gzip", forHTTPHeaderField: "Content-Encoding")
                sent.httpBody = Data(GzipEncoder.compress(request.body))
            } else if request.file == nil {
                sent.httpBody = Data(request.body)
            }
        }
        let start = clock?.uptime ?? .zero
        let (body, response): (Data, HTTPURLResponse)
        do {
            (body, response) =
                if let file = request.file { try await transport.upload(sent, from: file) } else {
                    try await transport.send(sent)
                }
        } catch { return .undecided(status: nil, retryAfter: nil) }
        let outcome = Self.outcome(response, body)
        // Somebody else's answer tells nothing.
        if case .undecided = outcome { return outcome }
        clock?.hear(response.value(forHTTPHeaderField: "Date"), sent: start)
        return outcome
    }

    private static func outcome(_ response: HTTPURLResponse, _ body: Data) -> Outcome {
        let status = response.statusCode
        guard response.isDefinite(body) else { return .undecided(status: status, retryAfter: response.retryAfter) }
        return status < 300 ? .done(body) : .refused(status: status, body)
    }

    /// The server's words for a refusal, for developers.
    static func message(_ body: Data) -> String {
        struct Refusal: Decodable {
            var error: String?
            var message: String?
        }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: body)
        return refusal?.message ?? refusal?.error ?? ""
    }
}
