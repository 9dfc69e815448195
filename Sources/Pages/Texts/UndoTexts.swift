/// What the page of a merge says of its undo, in one language (accounts Stage 6).
struct UndoTexts: Sendable {
    let heading: String
    let possibleUntil: String
    let undoneAt: String
    let impossible: String
    let effect: String
    let restored: String
    let unlinkedSubs: String
    let conflicts: String
    let keepChanged: String
    let button: String
    let refused: String
    let what: String
    let obstacles: [MergePage.Obstacle: String]
    let reasons: [MergePage.Conflict.Reason: String]
    /// What the rows of tables are. A table that support staff never hear of is named as it is.
    let tables: [String: String]
}

extension UndoTexts {
    static let english = UndoTexts(
        heading: "Undo", possibleUntil: "Can be undone until", undoneAt: "Undone at", impossible: "cannot be undone",
        effect: """
            Everything goes back that this merge moved, and what it deleted returns. What was added since stays with the \
            survivor. Applications are told.
            """,
        restored: "Goes back", unlinkedSubs: "Subs that are the absorbed account’s again",
        conflicts: "This was changed since the merge, so it cannot go back:",
        keepChanged: "Leave what was changed as it is, and undo the rest", button: "Undo the merge",
        refused: "Nothing was undone. Look at what stands in the way.", what: "What",
        obstacles: [
            .alreadyUndone: "It was undone.", .windowOver: "The time in which it could be undone is over.",
            .noJournal: "Nothing was kept that would be needed to undo it.",
            .laterMerge: "One of the accounts was part of a later merge. Undo that one first.",
            .accountDeleted: "One of the accounts is deleted.",
            .lastIdentity: "One of the accounts would have no way to sign in.",
        ],
        reasons: [
            .missing: "It is gone.", .moved: "It belongs to somebody else now.", .changed: "It was changed.",
            .taken: "It was deleted by the merge, and something new has taken its place.",
        ],
        tables: [
            "absorbed_subs": "Sub of an absorbed account", "agent_approvals": "Approval of an agent", "agents": "Agent",
            "applications": "Application", "devices": "Device", "grants": "Connected application",
            "identities": "Sign-in method", "identity_links": "Merge", "login_events": "Sign-in",
            "push_approval_requests": "Approval on a phone", "push_tokens": "Notifications of a device",
            "refresh_families": "Session at an application", "users": "Account",
        ])

    static let korean = UndoTexts(
        heading: "되돌리기", possibleUntil: "되돌릴 수 있는 기한", undoneAt: "되돌린 시각", impossible: "되돌릴 수 없음",
        effect: "이 병합이 옮긴 항목은 모두 원래 계정으로 돌아가고 삭제된 항목은 복원됩니다. 그 뒤에 추가된 항목은 남은 계정에 그대로 있습니다. 애플리케이션에도 알립니다.",
        restored: "돌아가는 항목 수", unlinkedSubs: "흡수된 계정으로 돌아가는 sub",
        conflicts: "다음 항목은 병합 뒤에 변경되어 돌아갈 수 없습니다.",
        keepChanged: "변경된 항목은 그대로 두고 나머지만 되돌리기", button: "병합 되돌리기",
        refused: "아무것도 되돌리지 않았습니다. 되돌릴 수 없는 이유를 확인하세요.", what: "항목",
        obstacles: [
            .alreadyUndone: "이미 되돌렸습니다.", .windowOver: "되돌릴 수 있는 기한이 지났습니다.",
            .noJournal: "되돌리는 데 필요한 기록이 없습니다.",
            .laterMerge: "두 계정 중 하나가 그 뒤에 다시 병합되었습니다. 나중의 병합을 먼저 되돌리세요.",
            .accountDeleted: "두 계정 중 하나가 삭제되었습니다.", .lastIdentity: "두 계정 중 하나에 로그인 방법이 남지 않게 됩니다.",
        ],
        reasons: [
            .missing: "없어졌습니다.", .moved: "이제 다른 계정에 속합니다.", .changed: "변경되었습니다.",
            .taken: "병합할 때 삭제되었고 지금은 새 항목이 그 자리를 차지합니다.",
        ],
        tables: [
            "absorbed_subs": "흡수된 계정의 sub", "agent_approvals": "에이전트 승인", "agents": "에이전트",
            "applications": "애플리케이션", "devices": "기기", "grants": "연결된 애플리케이션", "identities": "로그인 방법",
            "identity_links": "병합", "login_events": "로그인", "push_approval_requests": "휴대폰 승인",
            "push_tokens": "기기 알림", "refresh_families": "애플리케이션 세션", "users": "계정",
        ])
}
