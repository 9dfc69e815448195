import Foundation
import MerganserClient
import TestSupport

@testable import MerganserAuth

/// A person's browser at nginx: it keeps cookies, follows redirects on the server, and sends the forms of the page it shows.
final class WebBrowser {
    private let deployment: Deployment
    private var cookies: [String: String] = [:]
    /// Of the page shown, with its query.
    private(set) var path = ""
    private(set) var page = ""

    init(_ deployment: Deployment) { self.deployment = deployment }

    func open(_ path: String) throws { try follow("GET", path, []) }

    /// Sends the form of the page shown that goes to a path.
    func submit(_ action: String, _ more: [(String, String)] = []) throws {
        let forms = page.matches(of: /<form method="post" action="([^"]*)">(.*?)<\/form>/.dotMatchesNewlines())
        guard let form = forms.first(where: { $0.1 == action }) else {
            throw TestSupportError("no form to \(action) at \(path): \(page)")
        }
        let fields = form.2.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map {
            (String($0.1), String($0.2).replacing("&amp;", with: "&"))
        }
        try follow("POST", action, fields + more)
    }

    private func follow(_ method: String, _ path: String, _ form: [(String, String)]) throws {
        var (method, path, body) = (method, path, Array(formEncoded(form).utf8))
        for _ in 0..<10 {
            self.path = path
            let answer = try send(method, path, body)
            page = String(decoding: answer.body, as: UTF8.self)
            guard (300..<400).contains(answer.status), let next = answer.header("location"), next.hasPrefix("/")
            else { return }
            (method, path, body) = ("GET", next, [])
        }
        throw TestSupportError("redirects without an end at \(path)")
    }

    private func send(_ method: String, _ path: String, _ body: [UInt8]) throws -> HTTPConnection.Answer {
        var headers = [("Accept", "text/html"), ("Connection", "close")]
        if !cookies.isEmpty { headers.append(("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; "))) }
        if method == "POST" {
            headers += [("Origin", deployment.issuer), ("Content-Type", "application/x-www-form-urlencoded")]
        }
        let answer = try deployment.connect().ask(method, path, headers: headers, body: body)
        for (name, value) in answer.headers where name == "set-cookie" {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
        return answer
    }
}
