import Accounts
import Foundation
import Testing

@testable import API

/// `error_uri` leads somewhere, whatever the error (accounts §0.2, Annex B).
@Suite struct ErrorCodesPageTests {
    /// Annex B, and what the server says besides.
    private static let annex = """
        invalid_request invalid_cursor
        invalid_token invalid_device_secret invalid_client invalid_otp token_expired token_consumed invalid_signature
        nonce_replay missing_idempotency_key
        insufficient_scope anonymous_not_allowed developer_required admin_required action_not_allowed ip_not_allowed
        bearer_only_disabled
        not_found identity_not_connected not_connected unknown_sub unknown_user_code approval_not_found
        method_not_allowed plan_changed payload_too_large misdirected_request
        identity_owned_by_another_account device_claimed_by_other_user idempotency_conflict already_decided
        approval_expired payload_changed
        unknown_platform unknown_provider invalid_identity_token email_linked_to_other_apple_account
        email_linked_to_other_google_account account_deleted provider_already_connected last_identity
        invalid_contact_email non_anonymous_caller identity_does_not_resolve_to_existing_account
        identity_belongs_to_another_anonymous_user invalid_swap_ticket idempotency_key_reused anonymous_requester
        conflicting_credentials missing_credentials self_merge_forbidden client_type_immutable invalid_redirect_uri
        invalid_webhook_url invalid_approval number_mismatch
        rate_limited slow_down cool_down too_many_pending
        temporarily_unavailable internal_error
        """.split { $0 == " " || $0 == "\n" }.map(String.init)

    @Test func everyCodeIsExplainedOnce() throws {
        let codes = ErrorExplanation.all.map(\.code)
        #expect(Set(codes).count == codes.count)
        #expect(Set(codes) == Set(Self.annex + OAuthError.Code.allCases.map(\.rawValue)))
    }

    /// What `Golden/errors.txt` pins is what the server can answer.
    @Test func everyRefusalIsExplained() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let golden = try String(contentsOf: folder.appending(path: "Golden/errors.txt"), encoding: .utf8)
        let codes = golden.matches(of: #/"error":"([a-z_]+)"/#).map { String($0.1) }
        #expect(!codes.isEmpty)
        #expect(Set(codes).subtracting(ErrorExplanation.all.map(\.code)) == [])
    }

    @Test(arguments: Language.allCases)
    func everyCodeHasItsAnchor(_ language: Language) throws {
        let outline = try Outline(ErrorCodesPage().document(in: language).markup)
        let anchors = outline.all("div").compactMap { $0.attributes["id"] }
        #expect(Set(anchors) == Set(ErrorExplanation.all.map(\.code)))
    }
}
