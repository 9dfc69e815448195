import Fetch
import JSON
import Text

/// The ad network's service that resolves attribution tokens.
package struct AdNetwork: Sendable {
    private let endpoint: String
    private let fetcher: Fetcher

    /// - Parameter timeout: the most time that a request may take in total.
    package init(endpoint: String, timeout: Duration) {
        self.endpoint = endpoint
        var options = Fetcher.Options()
        options.connectTimeout = .seconds(3)
        options.timeout = timeout
        options.maximumSize = 65_536
        options.cutsBody = true
        // The configuration has checked the endpoint: only in development it may use plain http.
        options.allowsLoopbackHTTP = true
        fetcher = Fetcher(options)
    }

    /// Asks the network.
    ///
    /// - Throws: the refusals of the table in analytics §7.
    package func resolve(_ token: String) throws(Refusal) -> Attribution {
        let answer: Fetcher.Response
        do {
            answer = try fetcher.post(endpoint, headers: [("Content-Type", "text/plain")], body: Array(token.utf8))
        } catch {
            throw .upstream(status: 0, message: error.message)
        }
        switch answer.status {
        case 200..<300:
            guard case .object(let object) = try? JSONValue(json: answer.body) else { throw Self.refusal(answer) }
            return Attribution(object)
        case 400: throw .rejected("Attribution token rejected by upstream", reason: "invalid token")
        case 404: return .pending
        default: throw Self.refusal(answer)
        }
    }

    private static func refusal(_ answer: Fetcher.Response) -> Refusal {
        let text = String(decoding: answer.body, as: UTF8.self).prefix(utf16: 500)
        return .upstream(status: answer.status, message: text.isEmpty ? "upstream \(answer.status)" : text)
    }
}
