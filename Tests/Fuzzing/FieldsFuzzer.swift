import API
import Accounts
import HTTP
import IdentityTokens
import JSON
import TestSupport

extension Fuzzer {
    /// Any text as the small values of requests: If-Match, Idempotency-Key, a list's limit, a cursor of events, what a
    /// relying party asks for at logout and its handle. A second, simpler reader must find the same.
    static let fields = Fuzzer(name: "fields", maximumSize: 4096) { input in
        try checkPlans(Array(input.text.utf8))
        try checkKeys(input.text)
        try checkLimit(input)
        try checkCursor(input.text)
        try checkLogout(input)
    }

    // MARK: If-Match

    /// - Parameter input: UTF-8, as every header field is when it is read.
    private static func checkPlans(_ input: [UInt8]) throws {
        let tags = input.split(separator: UInt8(ascii: ",")).map { tag in
            let tag = tag.drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 != 0x20 && $0 != 0x09 }
            return tag.filter { $0 != UInt8(ascii: "\"") }.text
        }
        switch Precondition(ifMatch: input.text) {
        case .none: try require(tags.map { $0.utf8.first } == [UInt8(ascii: "*")], "only * matches any plan")
        case .plan(let plans):
            try require(
                plans.count == tags.count && zip(plans, tags).allSatisfy { $0.isIdentical(to: $1) },
                "the plans are found as the plain reader does")
        }
        let plan = input.filter { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 > 0x20 && $0 < 0x7F }.text
        if !plan.isEmpty, plan != "*" {
            for written in [plan, "\"\(plan)\"", " \"other\",\t\"\(plan)\" "] {
                guard case .plan(let plans) = Precondition(ifMatch: written), plans.contains(plan) else {
                    throw Violation("a plan that is written is found")
                }
            }
        }
    }

    // MARK: Keys, limits, cursors

    private static func checkKeys(_ text: String) throws {
        let isVisible = text.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) }
        let length = text.unicodeScalars.count
        try require(
            IdempotencyKey.isKey(text) == (isVisible && (1...255).contains(length)), "a key has 1 to 255 characters")
        try require(
            (RefreshKey(text) != nil) == (isVisible && (22...255).contains(length)), "one of a refresh has 22 at least")
    }

    private static func checkLimit(_ input: [UInt8]) throws {
        let parameters = QueryParameters(Array("limit=".utf8) + input.filter { $0 != UInt8(ascii: "&") })
        let value = Array((parameters["limit"] ?? "").utf8)
        let isNumber = value.allSatisfy { (0x30...0x39).contains($0) } && value.contains { $0 != 0x30 }
        let number = isNumber ? value.reduce(0) { min($0 * 10 + Int($1) - 0x30, 1000) } : nil
        try require((try? parameters.pageLimit()) == number, "a limit is a number from 1 to 1000")
    }

    private static func checkCursor(_ text: String) throws {
        guard let seq = Int64(cursor: text) else { return }
        try require(seq >= 0 && "\(seq)".isIdentical(to: text), "one text stands for a number")
    }

    // MARK: Logout

    private static let accounts = Accounts(
        settings: AccountsSettings(issuer: "https://id.example"),
        serverKey: ServerKey(current: [UInt8](repeating: 7, count: 32)),
        identityTokens: TestIssuer.verifier(TestIssuer(.apple)))

    private static func checkLogout(_ input: [UInt8]) throws {
        try require(accounts.logoutRequest(of: input.text) == nil, "what was not sealed is no handle")
        guard let request = try? LogoutRequest(json: input) else { return }
        let handle = accounts.handle(of: request)
        try require(accounts.logoutRequest(of: handle) == request, "a handle opens")
        // The redirect URI is a registered one; here it may be anything.
        guard let uri = request.redirectURI, let location = request.location else { return }
        try require(Array(location.utf8).starts(with: Array(uri.utf8)), "the redirect goes to the redirect URI")
        try require(
            location.utf8.dropFirst(uri.utf8.count).allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#")
            },
            "nothing in the state ends the field or the query")
    }
}
