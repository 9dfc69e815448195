import HTTP

/// What the table says about a code.
struct Entry {
    let section: ErrorCode.Section
    let status: Status
    let otherStatuses: [Status]
    let en: String
    let ko: String

    init(_ section: ErrorCode.Section, _ status: Status, also otherStatuses: [Status] = [], en: String, ko: String) {
        self.section = section
        self.status = status
        self.otherStatuses = otherStatuses
        self.en = en
        self.ko = ko
    }
}

extension ErrorCode {
    /// The table. Its order is that of the page's sections, and within them the page's.
    var entry: Entry {
        switch self {
        // RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8628 §3.5, OpenID Connect Core §3.1.2.6
        case .invalidRequest:
            Entry(
                .oauth, .badRequest, also: [.found, .forbidden],
                en:
                    "Something is missing, malformed, of the wrong type or given more than once. error_description says "
                    + "what. On authorize, state, scope and an S256 code_challenge are required.",
                ko: "필수 값이 없거나, 형식이나 타입이 잘못되었거나, 중복되었습니다. error_description을 확인하세요. 인가 요청에는 state, scope, S256 방식의 "
                    + "code_challenge가 필요합니다.")
        case .invalidClient:
            Entry(
                .oauth, .unauthorized, also: [.badRequest],
                en: "The client is unknown, not active or did not authenticate as registered. A public client sends "
                    + "no client_secret; a confidential one sends it by Basic or in the form, not both.",
                ko: "클라이언트를 알 수 없거나, 사용할 수 없는 상태이거나, 등록된 방식으로 인증하지 않았습니다. 공개 클라이언트는 client_secret을 보내지 않고, 기밀 클라이언트는 "
                    + "Basic 또는 폼 중 한 가지로만 보냅니다.")
        case .invalidGrant:
            Entry(
                .oauth, .badRequest,
                en: "The code or refresh token is unknown, expired, used, revoked or somebody else’s, or redirect_uri "
                    + "or code_verifier does not belong to it. Sign the person in again.",
                ko: "코드나 리프레시 토큰을 알 수 없거나, 만료되었거나, 이미 사용 또는 폐기되었거나, 다른 클라이언트의 것이거나, redirect_uri 또는 code_verifier가 "
                    + "일치하지 않습니다. 다시 로그인하게 하세요.")
        case .invalidScope:
            Entry(
                .oauth, .badRequest, also: [.found],
                en: "A scope is not among those the application may ask for, or not among those granted. Ask for "
                    + "fewer.",
                ko: "애플리케이션에 허용되지 않았거나 동의받지 않은 범위가 있습니다. 요청하는 범위를 줄이세요.")
        case .unsupportedResponseType:
            Entry(.oauth, .badRequest, also: [.found], en: "Use response_type=code.", ko: "response_type=code를 사용하세요.")
        case .unsupportedGrantType:
            Entry(
                .oauth, .badRequest,
                en: "Use authorization_code, refresh_token or urn:ietf:params:oauth:grant-type:device_code.",
                ko: "authorization_code, refresh_token 또는 urn:ietf:params:oauth:grant-type:device_code를 사용하세요.")
        case .accessDenied:
            Entry(
                .oauth, .badRequest, also: [.ok, .found],
                en: "The person refused. With error_description anonymous_not_allowed: the application takes no "
                    + "anonymous accounts.",
                ko: "사용자가 거절했습니다. error_description이 anonymous_not_allowed이면 애플리케이션이 익명 계정을 허용하지 않습니다.")
        case .loginRequired:
            Entry(
                .oauth, .badRequest, also: [.found],
                en: "The request has prompt=none, but nobody is signed in. Ask without it.",
                ko: "prompt=none으로 요청했지만 로그인되어 있지 않습니다. prompt=none 없이 다시 요청하세요.")
        case .consentRequired:
            Entry(
                .oauth, .badRequest, also: [.found],
                en: "The request has prompt=none, but the person has not allowed this yet. Ask without it.",
                ko: "prompt=none으로 요청했지만 아직 사용자의 동의가 없습니다. prompt=none 없이 다시 요청하세요.")
        case .requestNotSupported:
            Entry(
                .oauth, .badRequest, also: [.found], en: "Leave out request: parameters go in the query.",
                ko: "request를 제외하고 파라미터를 쿼리로 보내세요.")
        case .requestURINotSupported:
            Entry(
                .oauth, .badRequest, also: [.found], en: "Leave out request_uri: parameters go in the query.",
                ko: "request_uri를 제외하고 파라미터를 쿼리로 보내세요.")
        case .authorizationPending:
            Entry(
                .oauth, .badRequest, en: "The person has not decided yet. Ask again after interval seconds.",
                ko: "사용자가 아직 결정하지 않았습니다. interval초 후에 다시 요청하세요.")
        case .slowDown:
            Entry(
                .oauth, .badRequest, also: [.tooManyRequests],
                en: "You are polling too often. Wait as Retry-After says, or 5 seconds longer for a device code.",
                ko: "요청이 너무 잦습니다. Retry-After만큼 기다리세요. 기기 코드로 요청할 때는 앞으로 요청 간격을 5초 늘리세요.")
        case .expiredToken:
            Entry(
                .oauth, .badRequest, en: "The device code has expired. Start again with a new one.",
                ko: "기기 코드가 만료되었습니다. 새 코드로 다시 시작하세요.")

        // Requests and credentials
        case .invalidToken:
            Entry(
                .requests, .unauthorized,
                en: "The bearer token is missing, unknown, expired or revoked. Refresh it or sign in again.",
                ko: "토큰이 없거나, 알 수 없거나, 만료되었거나, 폐기되었습니다. 토큰을 갱신하거나 다시 로그인하세요.")
        case .insufficientScope:
            Entry(
                .requests, .forbidden, en: "The token is good, but does not carry the scope that this needs.",
                ko: "토큰은 유효하지만 필요한 범위가 없습니다.")
        case .rateLimited:
            Entry(
                .requests, .tooManyRequests, en: "Too many requests. Wait as long as Retry-After says.",
                ko: "요청이 너무 많습니다. Retry-After에 표시된 시간만큼 기다리세요.")
        case .notFound:
            Entry(
                .requests, .notFound,
                en: "There is nothing under this path, or nothing that belongs to the caller.",
                ko: "이 경로에 아무것도 없거나, 호출자의 것이 없습니다.")
        case .methodNotAllowed:
            Entry(
                .requests, .methodNotAllowed, en: "Use one of the methods that Allow lists.",
                ko: "Allow에 표시된 메서드 중 하나를 사용하세요.")
        case .payloadTooLarge:
            Entry(.requests, .payloadTooLarge, en: "Send at most 64 KiB.", ko: "본문은 64 KiB 이하로 보내세요.")
        case .misdirectedRequest:
            Entry(
                .requests, .misdirectedRequest, en: "The Host header must name the issuer's host.",
                ko: "Host 헤더를 issuer의 호스트와 같게 보내세요.")
        case .idempotencyKeyReused:
            Entry(
                .requests, .unprocessableContent,
                en: "This Idempotency-Key was already used for another request. Use a new key for every new request.",
                ko: "이 Idempotency-Key는 다른 요청에 이미 사용되었습니다. 새 요청에는 새 키를 사용하세요.")
        case .invalidCursor:
            Entry(
                .requests, .badRequest,
                en: "since or before is not a cursor of this list, or events after it were erased. Start with the "
                    + "first page; for events, with since=0.",
                ko: "since 또는 before가 이 목록의 커서가 아니거나 그 뒤의 이벤트가 지워졌습니다. 첫 페이지부터, 이벤트는 since=0부터 다시 시작하세요.")
        case .temporarilyUnavailable:
            Entry(
                .requests, .serviceUnavailable, also: [.badGateway, .gatewayTimeout],
                en: "Try again after Retry-After seconds, with the same Idempotency-Key if you sent one.",
                ko: "Retry-After초 후에 다시 시도하세요. Idempotency-Key를 보냈다면 같은 키를 사용하세요.")
        case .internalError:
            Entry(
                .requests, .internalServerError,
                en: "The fault is on this side. Report the request_id to the operator.",
                ko: "서버 오류입니다. request_id를 운영자에게 알려 주세요.")

        // Accounts and devices
        case .unknownPlatform:
            Entry(
                .accounts, .unprocessableContent, en: "Use one of the platforms this endpoint takes.",
                ko: "이 엔드포인트가 받는 플랫폼 중 하나를 사용하세요.")
        case .unknownProvider:
            Entry(.accounts, .unprocessableContent, en: "Use apple or google.", ko: "apple 또는 google을 사용하세요.")
        case .invalidDeviceSecret:
            Entry(
                .accounts, .unauthorized,
                en: "The device’s secret is missing, wrong or void. Drop it and register with a new device_uuid.",
                ko: "기기 비밀 값이 없거나, 틀렸거나, 무효입니다. 값을 버리고 새 device_uuid로 등록하세요.")
        case .invalidIdentityToken:
            Entry(
                .accounts, .unprocessableContent,
                en: "The provider’s identity token cannot be believed; error_description says why. Get a new one.",
                ko: "신원 토큰을 신뢰할 수 없습니다. 이유는 error_description에 있습니다. 새 토큰을 받으세요.")
        case .emailLinkedToOtherAppleAccount:
            Entry(
                .accounts, .unprocessableContent,
                en: "The address belongs to an account with a different Apple identity. Sign in with that one.",
                ko: "다른 Apple 로그인이 연결된 계정의 이메일 주소입니다. 그 Apple 계정으로 로그인하세요.")
        case .emailLinkedToOtherGoogleAccount:
            Entry(
                .accounts, .unprocessableContent,
                en: "The address belongs to an account with a different Google identity. Sign in with that one.",
                ko: "다른 Google 로그인이 연결된 계정의 이메일 주소입니다. 그 Google 계정으로 로그인하세요.")
        case .accountDeleted:
            Entry(
                .accounts, .unprocessableContent, en: "The account was deleted; purge_at says when it is erased.",
                ko: "삭제된 계정입니다. purge_at에 완전히 지워집니다.")
        case .deviceClaimedByOtherUser:
            Entry(
                .accounts, .conflict,
                en: "The device belongs to another account. Send its device_secret, or use a new device_uuid.",
                ko: "다른 계정의 기기입니다. device_secret을 보내거나 새 device_uuid를 사용하세요.")
        case .providerAlreadyConnected:
            Entry(
                .accounts, .unprocessableContent, en: "The account has an identity of this provider already.",
                ko: "계정에 이 제공자의 로그인이 이미 연결되어 있습니다.")
        case .identityOwnedByAnotherAccount:
            Entry(
                .accounts, .conflict,
                en: "The identity belongs to another account. An anonymous account can be swapped for it with the "
                    + "swap_ticket.",
                ko: "다른 계정에 연결된 로그인입니다. 익명 계정은 swap_ticket으로 그 계정으로 전환할 수 있습니다.")
        case .identityNotConnected:
            Entry(
                .accounts, .notFound, en: "The account has no identity of this provider.",
                ko: "계정에 이 제공자의 로그인이 연결되어 있지 않습니다.")
        case .lastIdentity:
            Entry(
                .accounts, .unprocessableContent,
                en: "It is the account’s only way to sign in. Connect another one first.",
                ko: "계정의 유일한 로그인 방법입니다. 다른 방법을 먼저 연결하세요.")
        case .invalidContactEmail:
            Entry(
                .accounts, .unprocessableContent, en: "contact_email is not a valid e-mail address.",
                ko: "contact_email이 이메일 주소가 아닙니다.")

        // Applications
        case .anonymousNotAllowed:
            Entry(
                .applications, .forbidden,
                en: "The application takes no anonymous accounts. Connect a way to sign in first.",
                ko: "애플리케이션이 익명 계정을 허용하지 않습니다. 로그인 방법을 먼저 연결하세요.")
        case .developerRequired:
            Entry(
                .applications, .forbidden, en: "Only accounts with the role developer or admin may do this.",
                ko: "developer 또는 admin 역할의 계정만 할 수 있습니다.")
        case .adminRequired:
            Entry(
                .applications, .forbidden, en: "Only accounts with the role admin may do this.",
                ko: "admin 역할의 계정만 할 수 있습니다.")
        case .clientTypeImmutable:
            Entry(
                .applications, .unprocessableContent, en: "client_type never changes. Register another application.",
                ko: "client_type은 바꿀 수 없습니다. 애플리케이션을 새로 등록하세요.")
        case .invalidRedirectURI:
            Entry(
                .applications, .unprocessableContent,
                en: "A redirect URI is refused; error_description says why. Use https or a custom scheme without "
                    + "underscore.",
                ko: "허용되지 않는 리디렉션 URI입니다. 이유는 error_description에 있습니다. https 또는 밑줄이 없는 사용자 정의 스킴을 사용하세요.")
        case .invalidWebhookURL:
            Entry(
                .applications, .unprocessableContent,
                en: "The address must be https, without user name or fragment, and lead to a public host.",
                ko: "사용자 이름과 프래그먼트가 없고 공개 호스트를 가리키는 https 주소여야 합니다.")
        case .unknownSub:
            Entry(
                .applications, .notFound,
                en: "Nobody ever signed in to this application under this sub, or the account was deleted.",
                ko: "이 sub로 이 애플리케이션에 로그인한 계정이 없거나 계정이 삭제되었습니다.")
        case .unknownUserCode:
            Entry(
                .applications, .notFound, en: "No device waits with this code. Compare it with the device.",
                ko: "이 코드로 기다리는 기기가 없습니다. 기기의 코드를 확인하세요.")
        case .notConnected:
            Entry(
                .applications, .notFound, en: "The account is not connected to this application.",
                ko: "이 애플리케이션에 연결된 계정이 아닙니다.")

        // Swapping and merging
        case .nonAnonymousCaller:
            Entry(
                .merging, .unprocessableContent, en: "Only an anonymous account can be swapped.",
                ko: "익명 계정만 전환할 수 있습니다.")
        case .anonymousRequester:
            Entry(
                .merging, .unprocessableContent, en: "An anonymous account cannot do this. Swap it instead.",
                ko: "익명 계정은 할 수 없습니다. 계정 전환을 사용하세요.")
        case .invalidSwapTicket:
            Entry(
                .merging, .unprocessableContent,
                en: "The ticket is unknown, used, expired after 10 minutes, or for another account or provider.",
                ko: "티켓을 알 수 없거나, 이미 사용했거나, 10분이 지났거나, 다른 계정 또는 제공자의 것입니다.")
        case .identityDoesNotResolveToExistingAccount:
            Entry(
                .merging, .unprocessableContent,
                en: "No account has this identity yet. Link it to the anonymous account instead.",
                ko: "이 로그인이 연결된 계정이 없습니다. 익명 계정에 연결하세요.")
        case .identityBelongsToAnotherAnonymousUser:
            Entry(
                .merging, .unprocessableContent,
                en: "The identity belongs to an anonymous account other than the caller’s.",
                ko: "다른 익명 계정에 연결된 로그인입니다.")
        case .planChanged:
            Entry(
                .merging, .preconditionFailed,
                en: "More or less would move now than the plan in If-Match says. Ask for a new plan.",
                ko: "If-Match 이후 이동 대상이 변경되었습니다. 새 계획을 요청하세요.")
        case .missingCredentials:
            Entry(
                .merging, .unprocessableContent,
                en: "Prove that the other account is yours in one of the ways offered.",
                ko: "제공되는 방법 중 하나로 다른 계정의 소유를 증명하세요.")
        case .conflictingCredentials:
            Entry(
                .merging, .unprocessableContent, en: "Send one proof for the other account, not several.",
                ko: "다른 계정에 대한 증명은 한 가지만 보내세요.")
        case .selfMergeForbidden:
            Entry(
                .merging, .unprocessableContent, en: "Both credentials belong to the same account.",
                ko: "양쪽이 이미 같은 계정입니다.")
        case .accountTooLarge:
            Entry(
                .merging, .unprocessableContent,
                en: "The account is too large for this to be done at once. Ask support.",
                ko: "계정의 데이터가 너무 많아 한 번에 처리할 수 없습니다. 고객 지원에 문의하세요.")
        case .undoConflict:
            Entry(
                .merging, .conflict,
                en:
                    "Something that the merge moved was changed since; conflicts lists it. Undo with keep_changed to leave it as it is.",
                ko: "병합이 옮긴 항목이 그 뒤에 변경되었습니다. conflicts를 확인하세요. keep_changed를 사용하면 변경된 항목은 그대로 둡니다.")
        case .undoNotPossible:
            Entry(
                .merging, .conflict, en: "The merge cannot be undone; reason says why.",
                ko: "이 병합은 되돌릴 수 없습니다. 이유는 reason에 있습니다.")
        case .invalidOTP:
            Entry(
                .merging, .unauthorized, en: "The one-time password is wrong, used, voided or expired.",
                ko: "일회용 비밀번호가 틀렸거나, 이미 사용되었거나, 무효이거나, 만료되었습니다.")
        case .tokenExpired:
            Entry(
                .merging, .unauthorized, en: "The merge session token has expired. Get a new one.",
                ko: "병합 세션 토큰이 만료되었습니다. 새로 받으세요.")
        case .tokenConsumed:
            Entry(
                .merging, .unauthorized, en: "The merge session token was used. Get a new one.",
                ko: "이미 사용한 병합 세션 토큰입니다. 새로 받으세요.")

        // Approvals
        case .invalidSignature:
            Entry(
                .approvals, .unauthorized, en: "The agent’s signature or its headers are missing, wrong or stale.",
                ko: "에이전트 서명이나 헤더가 없거나, 틀렸거나, 시간이 지났습니다.")
        case .nonceReplay:
            Entry(
                .approvals, .unauthorized, en: "The nonce was used before. Sign every request with a new one.",
                ko: "이미 사용한 nonce입니다. 요청마다 새 nonce로 서명하세요.")
        case .missingIdempotencyKey:
            Entry(.approvals, .unauthorized, en: "Send an Idempotency-Key.", ko: "Idempotency-Key를 보내세요.")
        case .actionNotAllowed:
            Entry(
                .approvals, .forbidden, en: "The agent may not ask for this action_type.",
                ko: "에이전트에 허용되지 않은 action_type입니다.")
        case .ipNotAllowed:
            Entry(
                .approvals, .forbidden, en: "The agent may not call from this address.",
                ko: "에이전트에 허용되지 않은 주소에서 호출했습니다.")
        case .bearerOnlyDisabled:
            Entry(
                .approvals, .forbidden, en: "Agents have to sign their requests here.",
                ko: "이 서버에서는 에이전트가 요청에 서명해야 합니다.")
        case .tooManyAgents:
            Entry(
                .approvals, .unprocessableContent,
                en: "The account has 50 agents. Revoke one that is not used any more, then create the new one.",
                ko: "계정의 에이전트가 이미 50개입니다. 쓰지 않는 에이전트의 권한을 취소한 뒤 다시 만드세요.")
        case .approvalNotFound:
            Entry(.approvals, .notFound, en: "There is no such approval for the caller.", ko: "해당 승인 요청이 없습니다.")
        case .idempotencyConflict:
            Entry(
                .approvals, .conflict, en: "This Idempotency-Key was already used for another body.",
                ko: "같은 Idempotency-Key가 다른 본문에 이미 사용되었습니다.")
        case .alreadyDecided:
            Entry(
                .approvals, .conflict, en: "This was decided before. Only the first decision counts.",
                ko: "이미 결정되었습니다. 결정은 한 번만 할 수 있습니다.")
        case .approvalExpired:
            Entry(
                .approvals, .conflict, en: "The time to decide is over. Ask again.",
                ko: "결정할 수 있는 시간이 지났습니다. 다시 요청하세요.")
        case .payloadChanged:
            Entry(
                .approvals, .conflict, en: "What the person saw is not what was asked for. Nothing was decided.",
                ko: "표시된 내용이 요청과 다릅니다. 결정되지 않았습니다.")
        case .invalidApproval:
            Entry(
                .approvals, .unprocessableContent, en: "The fields that fields names are missing or malformed.",
                ko: "fields에 표시된 항목이 없거나 형식이 잘못되었습니다.")
        case .numberMismatch:
            Entry(
                .approvals, .unprocessableContent,
                en: "It is not the number shown on the other side. The third wrong number ends the request.",
                ko: "상대 쪽에 표시된 숫자와 다릅니다. 세 번 틀리면 거절된 것으로 처리됩니다.")
        case .coolDown:
            Entry(
                .approvals, .tooManyRequests, en: "A request like this was rejected less than 10 minutes ago.",
                ko: "같은 종류의 요청이 지난 10분 안에 거절되었습니다.")
        case .tooManyPending:
            Entry(
                .approvals, .tooManyRequests,
                en: "Too many approvals of this agent, or of all agents of its user, are waiting.",
                ko: "이 에이전트나 사용자의 모든 에이전트에 대기 중인 승인 요청이 너무 많습니다.")
        }
    }
}
