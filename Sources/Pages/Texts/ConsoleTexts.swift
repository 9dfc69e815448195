/// What the pages of administration say, in one language.
package struct ConsoleTexts: Sendable {
    let title: String
    let sections: [ConsoleSection: String]
    let signOut: String

    // On several pages
    let search: String
    let none: String
    let nextPage: String
    let firstPage: String
    let order: String
    let newestFirst: String
    let oldestFirst: String
    let user: String
    let account: String
    let anonymous: String
    let identified: String
    let previouslyAnonymous: String
    let deleted: String
    let merged: String
    let created: String
    let lastActive: String
    let purged: String
    let at: String
    let utc: String
    let roles: [ConsoleUser.Role: String]
    let role: String
    let done: String
    let freshSignIn: String

    // Overview
    let lastThirtyDays: String
    let today: String
    let inThirtyDays: String
    let perDay: String
    let day: String
    let counts: [ConsoleCount: String]
    let accounts: String
    let outboxFacts: String
    let oldestDue: String
    let deadEvents: String
    let openBreakers: String
    let disabledEndpoints: String
    let awaitingApproval: String
    let seconds: @Sendable (Int) -> String

    // People
    let searchLabel: String
    let searchHint: String
    let nobodyFound: String
    let nickname: String
    let contactEmail: String
    let identities: String
    let devices: String
    let grants: String
    let links: String
    let absorbedSubs: String
    let absorbedSub: String
    let graph: String
    let graphLede: String
    let graphTooLarge: String
    let notAll: String
    let allMerges: String
    let verified: String
    let notVerified: String
    let secretVoided: String
    let revoked: String
    let sub: String
    let mergedInto: String
    let absorbed: String
    let signedInWith: String
    let usesDevice: String
    let usesApplication: String
    let appSignIns: String
    let webSessions: String
    let pendingApprovals: String
    let timeline: String
    let changeRole: String
    let setRole: String
    let cutOff: String
    let cutOffEffect: String
    let cutOffButton: String
    let restore: String
    let restoreEffect: String
    let restoreButton: String

    // Merges
    let survivor: String
    let via: String
    let merge: String
    let undo: UndoTexts

    // Applications
    let clientID: String
    let type: String
    let owner: String
    let theOperator: String
    let status: String
    let statuses: [ConsoleApplication.Status: String]
    let redirectURIs: String
    let postLogoutRedirectURIs: String
    let scopes: String
    let appLink: String
    let webhook: String
    let webhookDisabled: String
    let enableWebhook: String
    let enableWebhookEffect: String
    let pendingChanges: String
    let now: String
    let wanted: String
    let approve: String
    let approveEffect: String
    let suspend: String
    let suspendEffect: String
    let flags: String
    let setFlags: String
    let allowAnonymousGrants: String
    let firstParty: String
    let linkedSubDetails: String

    // Outbox
    let states: [ConsoleEvent.State: String]
    let event: String
    let attempts: String
    let nextAttempt: String
    let delivered: String
    let gaveUp: String
    let reason: String
    let replay: String
    let noEvents: String

    // Keys
    let keyStates: [ConsoleKey.State: String]
    let published: String
    let signsFrom: String
    let signsUntil: String
    let publishedUntil: String

    // Audit log
    let action: String
    let actor: String
    let userID: String
    let filter: String
    let address: String
    let request: String
    let noEntries: String
}

extension ConsoleTexts {
    static let english = ConsoleTexts(
        title: "Administration",
        sections: [
            .overview: "Overview", .users: "People", .merges: "Merges", .applications: "Applications",
            .outbox: "Events", .keys: "Keys", .auditLog: "Audit log",
        ], signOut: "Sign out",
        search: "Search", none: "none", nextPage: "Next page", firstPage: "First page", order: "Order",
        newestFirst: "Newest first", oldestFirst: "Oldest first", user: "User",
        account: "Account", anonymous: "Anonymous", identified: "Identified",
        previouslyAnonymous: "Identified, was anonymous", deleted: "Deleted", merged: "Merged", created: "Created",
        lastActive: "Last active", purged: "Erased on", at: "At", utc: "All times are UTC.",
        roles: [.user: "User", .developer: "Developer", .admin: "Administrator"], role: "Role",
        done: "Done.", freshSignIn: "For a change you must have signed in within the last 15 minutes.",
        lastThirtyDays: "The last 30 days", today: "today", inThirtyDays: "in 30 days", perDay: "Numbers per day",
        day: "Day",
        counts: [
            .newUsers: "New accounts", .promotions: "Anonymous accounts that were identified", .signIns: "Sign-ins",
            .refusedSignIns: "Refused sign-ins", .swaps: "Swaps", .merges: "Merges", .deadEvents: "Undelivered events",
        ], accounts: "Accounts", outboxFacts: "Events", oldestDue: "Next event due for", deadEvents: "Given up",
        openBreakers: "Receivers that fail", disabledEndpoints: "Receivers that are disabled",
        awaitingApproval: "Applications to approve", seconds: { "\($0) s" },
        searchLabel: "Person", searchHint: "Account number, e-mail address, provider’s sub or device UUID",
        nobodyFound: "Nobody has this number, address, sub or device.", nickname: "Nickname",
        contactEmail: "Contact address", identities: "Sign-in methods", devices: "Devices",
        grants: "Connected applications", links: "Accounts merged into this one",
        absorbedSubs: "Subs of absorbed accounts", absorbedSub: "Sub of an absorbed account",
        graph: "Identity graph", graphLede: "What belongs to this account, and which accounts became part of it.",
        graphTooLarge: "There is too much to draw, so it is a list.",
        notAll: "There is more than is shown here. The command merganserctl user show lists all of it.",
        allMerges: "All merges into this account", verified: "verified",
        notVerified: "not verified", secretVoided: "needs a new sign-in", revoked: "Revoked", sub: "sub",
        mergedInto: "Merged into", absorbed: "Absorbed account", signedInWith: "Signs in with",
        usesDevice: "Uses the device", usesApplication: "Uses the application", appSignIns: "App sign-ins",
        webSessions: "Browser sessions", pendingApprovals: "Open approvals", timeline: "Audit timeline",
        changeRole: "Change the role", setRole: "Set role", cutOff: "Cut off",
        cutOffEffect:
            "Everybody is signed out of this account: in the app, in browsers and at applications. Its agents are revoked. Consents stay.",
        cutOffButton: "End all sessions", restore: "Restore",
        restoreEffect:
            "The person can sign in again. Devices and consents to applications do not come back.",
        restoreButton: "Restore the account",
        survivor: "Survivor", via: "By", merge: "Merge", undo: .english,
        clientID: "Client ID", type: "Type", owner: "Owner", theOperator: "Operator", status: "Status",
        statuses: [.pending: "Waits for approval", .active: "Active", .suspended: "Suspended"],
        redirectURIs: "Redirect URIs", postLogoutRedirectURIs: "Redirect URIs after signing out", scopes: "Scopes",
        appLink: "App link", webhook: "Webhook", webhookDisabled: "Webhook disabled since",
        enableWebhook: "Enable the webhook", enableWebhookEffect: "What waits is sent at once.",
        pendingChanges: "Requested changes",
        now: "In effect", wanted: "Requested", approve: "Approve",
        approveEffect: "What is requested takes effect at once.", suspend: "Suspend",
        suspendEffect: "Nobody can sign in to it any more, and its tokens are refused.", flags: "Flags",
        setFlags: "Set flags", allowAnonymousGrants: "Anonymous accounts may sign in",
        firstParty: "Needs no consent (first party)", linkedSubDetails: "Is told the subs of merged accounts",
        states: [.pending: "To be sent", .dead: "Given up", .delivered: "Delivered"], event: "Event",
        attempts: "Attempts", nextAttempt: "Next attempt", delivered: "Delivered", gaveUp: "Given up",
        reason: "Reason", replay: "Send again", noEvents: "There are no such events.",
        keyStates: [.next: "Published, does not sign yet", .active: "Signs", .retired: "Retired", .removed: "Removed"],
        published: "Published", signsFrom: "Signs from", signsUntil: "Signs until", publishedUntil: "Published until",
        action: "Action", actor: "By", userID: "Account number", filter: "Filter", address: "Address",
        request: "Request", noEntries: "There are no such entries.")

    static let korean = ConsoleTexts(
        title: "관리",
        sections: [
            .overview: "개요", .users: "사용자", .merges: "병합", .applications: "애플리케이션", .outbox: "이벤트",
            .keys: "키", .auditLog: "감사 로그",
        ], signOut: "로그아웃",
        search: "검색", none: "없음", nextPage: "다음 페이지", firstPage: "첫 페이지", order: "정렬",
        newestFirst: "최신순", oldestFirst: "오래된순", user: "사용자", account: "계정",
        anonymous: "익명", identified: "식별됨", previouslyAnonymous: "식별됨(이전에 익명)", deleted: "삭제됨",
        merged: "병합됨", created: "생성", lastActive: "마지막 활동", purged: "완전 삭제일", at: "시각",
        utc: "모든 시각은 UTC입니다.",
        roles: [.user: "사용자", .developer: "개발자", .admin: "관리자"], role: "역할",
        done: "처리되었습니다.", freshSignIn: "변경하려면 최근 15분 이내에 로그인했어야 합니다.",
        lastThirtyDays: "최근 30일", today: "오늘", inThirtyDays: "30일 동안", perDay: "일별 수치", day: "날짜",
        counts: [
            .newUsers: "새 계정", .promotions: "식별된 익명 계정", .signIns: "로그인", .refusedSignIns: "거부된 로그인",
            .swaps: "전환", .merges: "병합", .deadEvents: "전달하지 못한 이벤트",
        ], accounts: "계정", outboxFacts: "이벤트", oldestDue: "다음 이벤트 대기 시간", deadEvents: "전달 포기",
        openBreakers: "실패하는 수신자", disabledEndpoints: "중지된 수신자", awaitingApproval: "승인할 애플리케이션",
        seconds: { "\($0)초" },
        searchLabel: "사람", searchHint: "계정 번호, 이메일 주소, 로그인 제공자의 sub 또는 기기 UUID",
        nobodyFound: "이 번호, 주소, sub 또는 기기를 가진 사람이 없습니다.", nickname: "닉네임",
        contactEmail: "연락처 주소", identities: "로그인 방법", devices: "기기", grants: "연결된 애플리케이션",
        links: "이 계정에 병합된 계정", absorbedSubs: "흡수된 계정의 sub", absorbedSub: "흡수된 계정의 sub 값", graph: "신원 그래프",
        graphLede: "이 계정에 속한 것과 이 계정의 일부가 된 계정입니다.",
        graphTooLarge: "그리기에는 너무 많아 목록으로 표시합니다.",
        notAll: "여기에 표시되지 않은 항목이 더 있습니다. merganserctl user show 명령으로 모두 볼 수 있습니다.",
        allMerges: "이 계정으로의 병합 모두 보기", verified: "확인됨", notVerified: "확인되지 않음",
        secretVoided: "다시 로그인해야 함", revoked: "철회됨", sub: "sub 값", mergedInto: "병합된 곳",
        absorbed: "흡수된 계정", signedInWith: "로그인 방법", usesDevice: "사용하는 기기",
        usesApplication: "사용하는 애플리케이션", appSignIns: "앱 로그인", webSessions: "브라우저 세션",
        pendingApprovals: "대기 중인 승인", timeline: "감사 기록", changeRole: "역할 변경", setRole: "역할 설정",
        cutOff: "세션 종료", cutOffEffect: "앱, 브라우저, 애플리케이션에서 이 계정이 모두 로그아웃됩니다. 에이전트의 권한은 취소됩니다. 동의는 유지됩니다.",
        cutOffButton: "모든 세션 종료", restore: "복원",
        restoreEffect: "이 사용자가 다시 로그인할 수 있습니다. 기기와 애플리케이션 동의는 복원되지 않습니다.",
        restoreButton: "계정 복원",
        survivor: "남은 계정", via: "방법", merge: "병합", undo: .korean,
        clientID: "클라이언트 ID", type: "유형", owner: "소유자", theOperator: "운영자", status: "상태",
        statuses: [.pending: "승인 대기", .active: "사용 중", .suspended: "중지됨"], redirectURIs: "리디렉션 URI",
        postLogoutRedirectURIs: "로그아웃 후 리디렉션 URI", scopes: "범위", appLink: "앱 링크", webhook: "웹훅",
        webhookDisabled: "웹훅이 중지된 시각", enableWebhook: "웹훅 다시 켜기", enableWebhookEffect: "대기 중인 이벤트를 바로 보냅니다.",
        pendingChanges: "요청된 변경", now: "현재 값", wanted: "요청된 값",
        approve: "승인", approveEffect: "요청된 내용이 바로 적용됩니다.", suspend: "중지",
        suspendEffect: "아무도 로그인할 수 없고 토큰이 거부됩니다.", flags: "플래그", setFlags: "플래그 설정",
        allowAnonymousGrants: "익명 계정도 로그인할 수 있음", firstParty: "동의가 필요 없음(자사 앱)",
        linkedSubDetails: "병합된 계정의 sub를 받음",
        states: [.pending: "보낼 예정", .dead: "전달 포기", .delivered: "전달됨"], event: "이벤트", attempts: "시도",
        nextAttempt: "다음 시도", delivered: "전달됨", gaveUp: "포기한 시각", reason: "이유", replay: "다시 보내기",
        noEvents: "해당하는 이벤트가 없습니다.",
        keyStates: [.next: "게시됨, 아직 서명하지 않음", .active: "서명 중", .retired: "사용 종료", .removed: "제거됨"],
        published: "게시", signsFrom: "서명 시작", signsUntil: "서명 종료", publishedUntil: "게시 종료",
        action: "작업", actor: "수행자", userID: "계정 번호", filter: "필터", address: "주소", request: "요청",
        noEntries: "해당하는 기록이 없습니다.")
}
