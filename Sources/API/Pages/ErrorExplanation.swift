/// What an error code of the wire means and what to do about it, in every language.
struct ErrorExplanation: Sendable {
    enum Section: CaseIterable, Sendable {
        case oauth, requests, accounts, applications, merging, approvals
    }

    let section: Section
    let code: String
    /// Those it comes with, or where a browser takes it to the redirect URI.
    let statuses: String
    let english: String
    let korean: String

    private init(_ section: Section, _ code: String, _ statuses: String, _ english: String, _ korean: String) {
        self.section = section
        self.code = code
        self.statuses = statuses
        self.english = english
        self.korean = korean
    }

    /// Every code of `/oauth` and `/api` (accounts Annex B and OAuth's own), each once.
    static let all: [ErrorExplanation] = [
        // RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8628 §3.5, OpenID Connect Core §3.1.2.6
        ErrorExplanation(
            .oauth, "invalid_request", "302, 400",
            "Something is missing, malformed, of the wrong type or there twice. error_description tells what. "
                + "On authorize, state, scope and an S256 code_challenge are required.",
            "필수 값이 없거나, 형식이나 타입이 잘못되었거나, 중복되었습니다. error_description을 확인하세요. "
                + "인가 요청에는 state, scope, S256 방식의 code_challenge가 필요합니다."),
        ErrorExplanation(
            .oauth, "invalid_client", "401",
            "The client is unknown, not active or did not authenticate as registered. A public client sends no "
                + "client_secret; a confidential one sends it by Basic or in the form, not both.",
            "클라이언트를 알 수 없거나, 사용할 수 없는 상태이거나, 등록된 방식으로 인증하지 않았습니다. 공개 클라이언트는 "
                + "client_secret을 보내지 않고, 기밀 클라이언트는 Basic 또는 폼 중 한 가지로만 보냅니다."),
        ErrorExplanation(
            .oauth, "invalid_grant", "400",
            "The code or refresh token is unknown, expired, used, revoked or somebody else’s, or redirect_uri or "
                + "code_verifier does not belong to it. Sign the person in again.",
            "코드나 리프레시 토큰을 알 수 없거나, 만료되었거나, 이미 사용 또는 폐기되었거나, 다른 클라이언트의 것이거나, "
                + "redirect_uri 또는 code_verifier가 일치하지 않습니다. 다시 로그인하게 하세요."),
        ErrorExplanation(
            .oauth, "invalid_scope", "302, 400",
            "A scope is not among those the application may ask for, or not among those granted. Ask for fewer.",
            "애플리케이션에 허용되지 않았거나 동의받지 않은 범위가 있습니다. 요청하는 범위를 줄이세요."),
        ErrorExplanation(
            .oauth, "unsupported_response_type", "302", "Use response_type=code.", "response_type=code를 사용하세요."),
        ErrorExplanation(
            .oauth, "unsupported_grant_type", "400",
            "Use authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code.",
            "authorization_code, refresh_token 또는 urn:ietf:params:oauth:grant-type:device_code를 사용하세요."),
        ErrorExplanation(
            .oauth, "access_denied", "302, 400",
            "The person refused. With error_description anonymous_not_allowed: the application takes no anonymous accounts.",
            "사용자가 거부했습니다. error_description이 anonymous_not_allowed이면 애플리케이션이 익명 계정을 허용하지 않습니다."),
        ErrorExplanation(
            .oauth, "login_required", "302", "prompt=none was asked for and nobody is signed in. Ask without it.",
            "prompt=none으로 요청했지만 로그인되어 있지 않습니다. prompt=none 없이 다시 요청하세요."),
        ErrorExplanation(
            .oauth, "consent_required", "302",
            "prompt=none was asked for and the person has not allowed this yet. Ask without it.",
            "prompt=none으로 요청했지만 아직 사용자의 동의가 없습니다. prompt=none 없이 다시 요청하세요."),
        ErrorExplanation(
            .oauth, "request_not_supported", "302", "Leave out request: parameters go in the query.",
            "request를 제외하고 파라미터를 쿼리로 보내세요."),
        ErrorExplanation(
            .oauth, "request_uri_not_supported", "302", "Leave out request_uri: parameters go in the query.",
            "request_uri를 제외하고 파라미터를 쿼리로 보내세요."),
        ErrorExplanation(
            .oauth, "authorization_pending", "400", "The person has not decided yet. Ask again after interval seconds.",
            "사용자가 아직 결정하지 않았습니다. interval초 후에 다시 요청하세요."),
        ErrorExplanation(
            .oauth, "slow_down", "400, 429", "You ask too often. Wait 5 seconds longer between requests from now on.",
            "요청이 너무 잦습니다. 앞으로 요청 간격을 5초 늘리세요."),
        ErrorExplanation(
            .oauth, "expired_token", "400", "The device code has expired. Start again with a new one.",
            "기기 코드가 만료되었습니다. 새 코드로 다시 시작하세요."),

        // Requests and credentials
        ErrorExplanation(
            .requests, "invalid_token", "401",
            "The bearer token is missing, unknown, expired or revoked. Refresh it or sign in again.",
            "토큰이 없거나, 알 수 없거나, 만료되었거나, 폐기되었습니다. 토큰을 갱신하거나 다시 로그인하세요."),
        ErrorExplanation(
            .requests, "insufficient_scope", "403", "The token is good, but does not carry the scope that this needs.",
            "토큰은 유효하지만 필요한 범위가 없습니다."),
        ErrorExplanation(
            .requests, "rate_limited", "429", "Too many requests. Wait as long as Retry-After says.",
            "요청이 너무 많습니다. Retry-After에 표시된 시간만큼 기다리세요."),
        ErrorExplanation(
            .requests, "not_found", "404", "There is nothing under this path.", "이 경로에는 아무것도 없습니다."),
        ErrorExplanation(
            .requests, "method_not_allowed", "405", "Use one of the methods that Allow lists.",
            "Allow에 표시된 메서드 중 하나를 사용하세요."),
        ErrorExplanation(
            .requests, "payload_too_large", "413", "Send at most 64 KiB.", "본문은 64 KiB 이하로 보내세요."),
        ErrorExplanation(
            .requests, "misdirected_request", "421", "Send Host as the issuer has it.",
            "Host 헤더를 issuer의 호스트와 같게 보내세요."),
        ErrorExplanation(
            .requests, "idempotency_key_reused", "422",
            "This Idempotency-Key came with another request before. Use a new key for every new request.",
            "이 Idempotency-Key는 다른 요청에 이미 사용되었습니다. 새 요청에는 새 키를 사용하세요."),
        ErrorExplanation(
            .requests, "invalid_cursor", "400", "since is no cursor of this application. Start without it.",
            "since가 이 애플리케이션의 커서가 아닙니다. since 없이 시작하세요."),
        ErrorExplanation(
            .requests, "temporarily_unavailable", "503", "Try again after Retry-After seconds. Nothing was changed.",
            "Retry-After초 후에 다시 시도하세요. 변경된 내용은 없습니다."),
        ErrorExplanation(
            .requests, "internal_error", "500", "The fault is on this side. Report the request_id to the operator.",
            "서버 오류입니다. request_id를 운영자에게 알려 주세요."),

        // Accounts and devices
        ErrorExplanation(
            .accounts, "unknown_platform", "422", "Use one of the platforms this endpoint takes.",
            "이 엔드포인트가 받는 플랫폼 중 하나를 사용하세요."),
        ErrorExplanation(
            .accounts, "unknown_provider", "422", "Use apple or google.", "apple 또는 google을 사용하세요."),
        ErrorExplanation(
            .accounts, "invalid_device_secret", "401",
            "The device’s secret is missing, wrong or void. Drop it and register with a new device_uuid.",
            "기기 비밀 값이 없거나, 틀렸거나, 무효입니다. 값을 버리고 새 device_uuid로 등록하세요."),
        ErrorExplanation(
            .accounts, "invalid_identity_token", "422",
            "The provider’s identity token cannot be believed; error_description tells why. Get a new one.",
            "신원 토큰을 신뢰할 수 없습니다. 이유는 error_description에 있습니다. 새 토큰을 받으세요."),
        ErrorExplanation(
            .accounts, "email_linked_to_other_apple_account", "422",
            "The address belongs to an account with a different Apple identity. Sign in with that one.",
            "다른 Apple 로그인이 연결된 계정의 이메일 주소입니다. 그 Apple 계정으로 로그인하세요."),
        ErrorExplanation(
            .accounts, "email_linked_to_other_google_account", "422",
            "The address belongs to an account with a different Google identity. Sign in with that one.",
            "다른 Google 로그인이 연결된 계정의 이메일 주소입니다. 그 Google 계정으로 로그인하세요."),
        ErrorExplanation(
            .accounts, "account_deleted", "422", "The account was deleted; purge_at tells when it is erased.",
            "삭제된 계정입니다. purge_at에 완전히 지워집니다."),
        ErrorExplanation(
            .accounts, "device_claimed_by_other_user", "409",
            "The device belongs to another account. Send its device_secret, or use a new device_uuid.",
            "다른 계정의 기기입니다. device_secret을 보내거나 새 device_uuid를 사용하세요."),
        ErrorExplanation(
            .accounts, "provider_already_connected", "422", "The account has an identity of this provider already.",
            "계정에 이 제공자의 로그인이 이미 연결되어 있습니다."),
        ErrorExplanation(
            .accounts, "identity_owned_by_another_account", "409",
            "The identity belongs to another account. An anonymous account can be swapped for it with the swap_ticket.",
            "다른 계정에 연결된 로그인입니다. 익명 계정은 swap_ticket으로 그 계정으로 전환할 수 있습니다."),
        ErrorExplanation(
            .accounts, "identity_not_connected", "404", "The account has no identity of this provider.",
            "계정에 이 제공자의 로그인이 연결되어 있지 않습니다."),
        ErrorExplanation(
            .accounts, "last_identity", "422", "It is the account’s only way to sign in. Connect another one first.",
            "계정의 유일한 로그인 방법입니다. 다른 방법을 먼저 연결하세요."),
        ErrorExplanation(
            .accounts, "invalid_contact_email", "422", "contact_email is no e-mail address.",
            "contact_email이 이메일 주소가 아닙니다."),

        // Applications
        ErrorExplanation(
            .applications, "anonymous_not_allowed", "403",
            "The application takes no anonymous accounts. Connect a way to sign in first.",
            "애플리케이션이 익명 계정을 허용하지 않습니다. 로그인 방법을 먼저 연결하세요."),
        ErrorExplanation(
            .applications, "developer_required", "403", "Only accounts with the role developer or admin may do this.",
            "developer 또는 admin 역할의 계정만 할 수 있습니다."),
        ErrorExplanation(
            .applications, "admin_required", "403", "Only accounts with the role admin may do this.",
            "admin 역할의 계정만 할 수 있습니다."),
        ErrorExplanation(
            .applications, "client_type_immutable", "422", "client_type never changes. Register another application.",
            "client_type은 바꿀 수 없습니다. 애플리케이션을 새로 등록하세요."),
        ErrorExplanation(
            .applications, "invalid_redirect_uri", "422",
            "A redirect URI is refused; error_description tells why. Use https or a custom scheme without underscore.",
            "허용되지 않는 리디렉션 URI입니다. 이유는 error_description에 있습니다. https 또는 밑줄이 없는 사용자 정의 스킴을 사용하세요."),
        ErrorExplanation(
            .applications, "invalid_webhook_url", "422",
            "The address must be https, without user name, and lead to a public host.",
            "사용자 이름이 없고 공개 호스트를 가리키는 https 주소여야 합니다."),
        ErrorExplanation(
            .applications, "unknown_sub", "404", "This application never held a grant with this sub.",
            "이 애플리케이션이 받은 적이 없는 sub입니다."),
        ErrorExplanation(
            .applications, "unknown_user_code", "404", "No device waits with this code. Compare it with the device.",
            "이 코드로 기다리는 기기가 없습니다. 기기의 코드를 확인하세요."),
        ErrorExplanation(
            .applications, "not_connected", "404", "The account is not connected to this application.",
            "이 애플리케이션에 연결된 계정이 아닙니다."),

        // Swapping and merging
        ErrorExplanation(
            .merging, "non_anonymous_caller", "422", "Only an anonymous account can be swapped.",
            "익명 계정만 전환할 수 있습니다."),
        ErrorExplanation(
            .merging, "anonymous_requester", "422", "An anonymous account cannot do this. Swap it instead.",
            "익명 계정은 할 수 없습니다. 계정 전환을 사용하세요."),
        ErrorExplanation(
            .merging, "invalid_swap_ticket", "422",
            "The ticket is unknown, used, expired after 10 minutes, or for another account or provider.",
            "티켓을 알 수 없거나, 이미 사용했거나, 10분이 지났거나, 다른 계정 또는 제공자의 것입니다."),
        ErrorExplanation(
            .merging, "identity_does_not_resolve_to_existing_account", "422",
            "No account has this identity yet. Link it to the anonymous account instead.",
            "이 로그인이 연결된 계정이 없습니다. 익명 계정에 연결하세요."),
        ErrorExplanation(
            .merging, "identity_belongs_to_another_anonymous_user", "422",
            "The identity belongs to an anonymous account other than the caller’s.",
            "다른 익명 계정에 연결된 로그인입니다."),
        ErrorExplanation(
            .merging, "plan_changed", "412", "What would be moved has changed since If-Match. Ask for a new plan.",
            "If-Match 이후 이동 대상이 변경되었습니다. 새 계획을 요청하세요."),
        ErrorExplanation(
            .merging, "missing_credentials", "422", "Prove that the other account is yours in one of the ways offered.",
            "제공되는 방법 중 하나로 다른 계정의 소유를 증명하세요."),
        ErrorExplanation(
            .merging, "conflicting_credentials", "422", "Send one proof for the other account, not several.",
            "다른 계정에 대한 증명은 한 가지만 보내세요."),
        ErrorExplanation(
            .merging, "self_merge_forbidden", "422", "Both sides are the same account already.",
            "양쪽이 이미 같은 계정입니다."),
        ErrorExplanation(
            .merging, "invalid_otp", "401", "The one-time password is wrong.", "일회용 비밀번호가 올바르지 않습니다."),
        ErrorExplanation(
            .merging, "token_expired", "401", "The merge session token has expired. Get a new one.",
            "병합 세션 토큰이 만료되었습니다. 새로 받으세요."),
        ErrorExplanation(
            .merging, "token_consumed", "401", "The merge session token was used. Get a new one.",
            "이미 사용한 병합 세션 토큰입니다. 새로 받으세요."),

        // Approvals
        ErrorExplanation(
            .approvals, "invalid_signature", "401", "The agent’s signature or its headers are missing, wrong or stale.",
            "에이전트 서명이나 헤더가 없거나, 틀렸거나, 시간이 지났습니다."),
        ErrorExplanation(
            .approvals, "nonce_replay", "401", "The nonce was used before. Sign every request with a new one.",
            "이미 사용한 nonce입니다. 요청마다 새 nonce로 서명하세요."),
        ErrorExplanation(
            .approvals, "missing_idempotency_key", "401", "Send an Idempotency-Key.", "Idempotency-Key를 보내세요."),
        ErrorExplanation(
            .approvals, "action_not_allowed", "403", "The agent may not ask for this action_type.",
            "에이전트에 허용되지 않은 action_type입니다."),
        ErrorExplanation(
            .approvals, "ip_not_allowed", "403", "The agent may not call from this address.",
            "에이전트에 허용되지 않은 주소에서 호출했습니다."),
        ErrorExplanation(
            .approvals, "bearer_only_disabled", "403", "Agents have to sign their requests here.",
            "이 서버에서는 에이전트가 요청에 서명해야 합니다."),
        ErrorExplanation(
            .approvals, "approval_not_found", "404", "There is no such approval for the caller.",
            "해당 승인 요청이 없습니다."),
        ErrorExplanation(
            .approvals, "idempotency_conflict", "409", "The Idempotency-Key came with another body before.",
            "같은 Idempotency-Key가 다른 본문에 이미 사용되었습니다."),
        ErrorExplanation(
            .approvals, "already_decided", "409", "The decision was made before; exactly one counts.",
            "이미 결정되었습니다. 결정은 한 번만 할 수 있습니다."),
        ErrorExplanation(
            .approvals, "approval_expired", "409", "The time to decide is over. Ask again.",
            "결정할 수 있는 시간이 지났습니다. 다시 요청하세요."),
        ErrorExplanation(
            .approvals, "payload_changed", "409", "What is shown is not what was asked for; nothing was decided.",
            "표시된 내용이 요청과 다릅니다. 결정되지 않았습니다."),
        ErrorExplanation(
            .approvals, "invalid_approval", "422", "The fields that fields names are missing or malformed.",
            "fields에 표시된 항목이 없거나 형식이 잘못되었습니다."),
        ErrorExplanation(
            .approvals, "number_mismatch", "422",
            "It is not the number shown on the other side. The third miss ends it.",
            "상대 쪽에 표시된 숫자와 다릅니다. 세 번 틀리면 거부됩니다."),
        ErrorExplanation(
            .approvals, "cool_down", "429", "A request like this was rejected less than 10 minutes ago.",
            "같은 종류의 요청이 10분 안에 거부되었습니다."),
        ErrorExplanation(
            .approvals, "too_many_pending", "429", "Too many approvals of this agent are waiting.",
            "이 에이전트의 대기 중인 승인 요청이 너무 많습니다."),
    ]
}
