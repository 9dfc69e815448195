import Accounts
import Analytics
import ErrorCodes
import Foundation
import HTTP
import IdentityTokens
import TestSupport
import Testing
import Time

@testable import API

/// The list of error codes, and the texts that are derived from it or must agree with it (accounts Annex B, analytics
/// §11.1).
@Suite struct ErrorCodeTests {
    /// `Golden/error_codes.txt` is every code with its statuses.
    @Test func theListIsPinned() throws {
        try expectGolden(
            "error_codes.txt",
            ErrorCode.allCases.map { code in
                "\(code.rawValue)  \(code.statuses.map { String($0.code) }.joined(separator: ", "))"
            })
    }

    /// `Golden/errors.txt` is every refusal with its status, headers and body.
    @Test func theRefusalsArePinned() throws {
        try expectGolden("errors.txt", Self.refusals.map(describe))
    }

    /// `Golden/attachment_errors.txt`, likewise.
    @Test func theRefusalsOfAttachmentsArePinned() throws {
        var lines: [String] = []
        var code = AttachmentRejection.Code.after(nil)
        while let current = code {
            lines.append(describe(.refusal(.attachment(AttachmentRejection(current, "Why")))))
            code = AttachmentRejection.Code.after(current)
        }
        try expectGolden("attachment_errors.txt", lines)
    }

    /// The codes of nginx's own answers under `/api` and `/oauth` are in the list, with their statuses.
    @Test func nginxHasTheSameCodes() throws {
        let codes = try Self.nginxCodes()
        #expect(codes.count > 5)
        for (status, name) in codes {
            let code = try #require(ErrorCode(rawValue: name), "\(name)")
            #expect(code.statuses.contains(where: status.matches), "\(status) \(name)")
        }
    }

    /// One document has the table of all codes under `/api`, both the server's and nginx's.
    @Test func theDocumentedCodesAreThoseAnswered() throws {
        let answered = Self.refusals.compactMap { Answer($0).error } + (try Self.nginxCodes().map(\.code))
        let tables = try Self.documents().compactMap { try Self.documentedCodes($0, of: "code") }
        let documented = try #require(tables.first, "no document has a table of error codes")
        #expect(tables.count == 1)
        for (status, name) in documented {
            let code = try #require(ErrorCode(rawValue: name), "\(name)")
            #expect(code.statuses.contains(Status(status)), "\(status) \(name)")
        }
        #expect(documented.count == Set(documented.map(\.code)).count, "a code stands there twice")
        #expect(Set(documented.map(\.code)) == Set(answered))
    }

    /// The same document has a table of the codes of refused attachments.
    @Test func theDocumentedCodesOfAttachmentsAreThoseAnswered() throws {
        let golden = try String(
            contentsOfFile: Repository.root + "/Tests/APITests/Golden/attachment_errors.txt", encoding: .utf8)
        let answered = golden.matches(of: #/(?m)^(\d+) {"code":"(\w+)"/#).map { "\($0.1) \($0.2)" }
        let tables = try Self.documents().compactMap { try Self.documentedCodes($0, of: "code of an attachment") }
        let documented = try #require(tables.first, "no document has a table of attachments' error codes")
        #expect(Set(documented.map { "\($0.status) \($0.code)" }) == Set(answered))
    }

    /// Annex B has every code that is answered under `/api`, in the row of one of its statuses.
    @Test func theSpecificationHasTheSameCodes() throws {
        let text = try String(contentsOfFile: "\(Repository.root)/docs/spec/accounts.md", encoding: .utf8)
        let annex = try #require(text.components(separatedBy: "<a id=\"annex-b\"></a>").last)
        var specified: Set<String> = []
        for row in annex.split(separator: "\n").filter({ $0.hasPrefix("| ") }).dropFirst() {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            let statuses = cells[1].matches(of: #/\d{3}/#).compactMap { Int($0.output) }
            for match in cells[2].matches(of: #/[a-z]+(?:_[a-z0-9]+)+/#) {
                let name = String(match.output)
                let code = try #require(ErrorCode(rawValue: name), "\(name)")
                #expect(code.statuses.contains { statuses.contains($0.code) }, "\(name)")
                specified.insert(name)
            }
        }
        #expect(Set(Self.refusals.compactMap { Answer($0).error }).subtracting(specified).isEmpty)
    }

    private static let refusals: [Response] = {
        let surface = Surface(path: "/api/v1/me", errorDocsBase: "https://id.example/oauth/errors", requestID: "id")
        var responses: [Response] = []
        var failure = Failure.after(nil)
        while let current = failure {
            responses.append(surface.refusal(current))
            failure = Failure.after(current)
        }
        return responses
    }()

    /// The map from statuses to codes. All other errors of nginx are an `invalid_request` with nginx's status.
    private static func nginxCodes() throws -> [(status: StatusPattern, code: String)] {
        let text = try String(contentsOfFile: "\(Repository.root)/nginx/merganser/error_bodies.conf", encoding: .utf8)
        let map = try #require(text.firstMatch(of: #/map \$status \$merganser_code \{\n([^}]*)\}/#)).1
        let lines = map.split(separator: ";").map { $0.split(whereSeparator: \.isWhitespace) }.filter { !$0.isEmpty }
        #expect(lines.first == ["default", "invalid_request"])
        return try lines.dropFirst().map { line in
            try #require(line.count == 2)
            return (try StatusPattern(line[0]), String(line[1]))
        }
    }

    private static func documents() throws -> [String] {
        let folder = "\(Repository.root)/docs"
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
        return try (["\(Repository.root)/README.md"] + names.map { "\(folder)/\($0)" }).map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
    }

    /// The rows under `| status
    /// code
    /// meaning |`; nil if the document has no such table.
    private static func documentedCodes(_ document: String, of column: String) throws -> [(status: Int, code: String)]?
    {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let head = lines.firstIndex(of: "| status | \(column) | meaning |") else { return nil }
        return try lines[(head + 2)...].prefix { $0.hasPrefix("|") }.flatMap { line in
            let cells = line.split(separator: "|")
            let statuses = cells[0].matches(of: #/\d+/#).compactMap { Int($0.output) }
            try #require(!statuses.isEmpty, "\(line)")
            return cells[1].matches(of: #/`([^`]+)`/#).flatMap { code in statuses.map { ($0, String(code.1)) } }
        }
    }

    private func describe(_ response: Response) -> String {
        ([Answer(response).description] + response.headers.map { "\($0.name): \($0.value)" }).joined(separator: " | ")
    }
}

extension Failure {
    /// The next case in the order of declaration. It is a switch, so that the compiler finds a missing case.
    fileprivate static func after(_ failure: Failure?) -> Failure? {
        switch failure {
        case nil: .invalidRequest
        case .invalidRequest: .invalidToken
        case .invalidToken: .invalidClient
        case .invalidClient: .insufficientScope
        case .insufficientScope: .anonymousNotAllowed
        case .anonymousNotAllowed: .unknownPlatform
        case .unknownPlatform: .unknownProvider
        case .unknownProvider: .invalidDeviceSecret
        case .invalidDeviceSecret: .invalidIdentityToken("bad signature")
        case .invalidIdentityToken: .emailLinkedToOtherIdentity(.apple)
        case .emailLinkedToOtherIdentity(.apple): .emailLinkedToOtherIdentity(.google)
        case .emailLinkedToOtherIdentity(.google): .accountDeleted(purgeAt: Timestamp(seconds: 1_778_569_200))
        case .accountDeleted: .deviceClaimedByOtherUser
        case .deviceClaimedByOtherUser: .providerAlreadyConnected
        case .providerAlreadyConnected: .identityOwnedByAnotherAccount
        case .identityOwnedByAnotherAccount: .identityNotConnected
        case .identityNotConnected: .notConnected
        case .notConnected: .lastIdentity
        case .lastIdentity: .invalidContactEmail
        case .invalidContactEmail: .nonAnonymousCaller
        case .nonAnonymousCaller: .invalidSwapTicket
        case .invalidSwapTicket: .identityDoesNotResolveToExistingAccount
        case .identityDoesNotResolveToExistingAccount: .identityBelongsToAnotherAnonymousUser
        case .identityBelongsToAnotherAnonymousUser: .anonymousRequester
        case .anonymousRequester: .conflictingCredentials
        case .conflictingCredentials: .missingCredentials
        case .missingCredentials: .invalidMergeToken
        case .invalidMergeToken: .mergeTokenExpired
        case .mergeTokenExpired: .mergeTokenConsumed
        case .mergeTokenConsumed: .invalidOTP
        case .invalidOTP: .selfMergeForbidden
        case .selfMergeForbidden: .planChanged
        case .planChanged: .accountTooLarge
        case .accountTooLarge: .idempotencyKeyReused
        case .idempotencyKeyReused: .invalidCursor
        case .invalidCursor: .notFound
        case .notFound: .developerRequired
        case .developerRequired: .adminRequired
        case .adminRequired: .clientTypeImmutable
        case .clientTypeImmutable: .invalidRedirectURI(.plainHTTP)
        case .invalidRedirectURI: .invalidWebhookURL
        case .invalidWebhookURL: .unknownSub
        case .unknownSub: .unknownUserCode
        case .unknownUserCode: .invalidSignature
        case .invalidSignature: .nonceReplay
        case .nonceReplay: .missingIdempotencyKey
        case .missingIdempotencyKey: .actionNotAllowed
        case .actionNotAllowed: .ipNotAllowed
        case .ipNotAllowed: .bearerOnlyDisabled
        case .bearerOnlyDisabled: .tooManyAgents
        case .tooManyAgents: .approvalNotFound
        case .approvalNotFound: .idempotencyConflict
        case .idempotencyConflict: .invalidApproval(fields: ["title", "ttl_seconds"])
        case .invalidApproval: .alreadyDecided
        case .alreadyDecided: .approvalExpired
        case .approvalExpired: .payloadChanged
        case .payloadChanged: .numberMismatch
        case .numberMismatch: .undoConflict([UndoConflict(table: "devices", key: "7", reason: .moved)])
        case .undoConflict: .undoNotPossible(.laterMerge)
        case .undoNotPossible: .slowDown(retryAfter: .milliseconds(1500))
        case .slowDown: .coolDown(retryAfter: .seconds(600))
        case .coolDown: .tooManyPending(retryAfter: .seconds(300))
        case .tooManyPending: .rateLimited(retryAfter: .milliseconds(1500))
        case .rateLimited: .temporarilyUnavailable
        case .temporarilyUnavailable: nil
        }
    }
}

extension AttachmentRejection.Code {
    /// As for `Failure`.
    fileprivate static func after(_ code: Self?) -> Self? {
        switch code {
        case nil: .invalidRequest
        case .invalidRequest: .disallowedContentType
        case .disallowedContentType: .fileTooLarge
        case .fileTooLarge: .userQuotaExhausted
        case .userQuotaExhausted: .quotaExhausted
        case .quotaExhausted: .alreadyUploaded
        case .alreadyUploaded: .tooManyBytes
        case .tooManyBytes: .tooFewBytes
        case .tooFewBytes: .hashMismatch
        case .hashMismatch: .tooSlow
        case .tooSlow: nil
        }
    }
}

/// A status in a map of nginx: a number, or a pattern such as `"~^50[234]$"`.
private struct StatusPattern: CustomStringConvertible {
    let description: String
    private let regex: Regex<AnyRegexOutput>

    init(_ text: Substring) throws {
        description = String(text)
        regex = try Regex(text.hasPrefix("\"~") ? String(text.dropFirst(2).dropLast()) : description)
    }

    func matches(_ status: Status) -> Bool { String(status.code).wholeMatch(of: regex) != nil }
}
