struct KoreanAccountTexts: AccountTexts {
    let title = "내 계정"
    func notice(_ notice: AccountPage.Notice) -> String {
        switch notice {
        case .methodAdded: "이제 그 방법으로도 로그인할 수 있습니다."
        case .methodRemoved: "이제 그 방법으로는 로그인할 수 없습니다."
        case .deviceRemoved: "기기를 삭제했습니다. 그 기기의 앱은 로그아웃됩니다."
        case .appDisconnected: "이제 그 앱은 내 계정을 사용할 수 없습니다."
        case .agentRevoked: "이제 그 에이전트는 내 승인을 요청할 수 없습니다."
        case .merged: "다른 계정을 이 계정에 합쳤습니다."
        case .lastMethod: "하나뿐인 로그인 방법입니다. 삭제하려면 먼저 다른 방법을 추가하세요."
        case .gone: "더 이상 내 계정에 없는 항목입니다. 변경된 내용은 없습니다."
        case .anonymous: "아직 로그인 방법이 없는 계정이라 할 수 없습니다. 변경된 내용은 없습니다."
        case .noOtherMethod: "사용할 수 있는 로그인 방법을 모두 추가했습니다."
        case .providerConnected: "이 서비스로 이미 로그인하고 있습니다. 다른 것을 쓰려면 먼저 그 방법을 삭제하세요."
        case .tripGone: "시간이 초과되었거나, 다른 사람 또는 다른 브라우저에서 시작한 요청입니다. 다시 시작하세요."
        case .cancelled: "로그인이 완료되지 않았습니다. 변경된 내용은 없습니다."
        case .failed: "로그인하지 못했습니다. 변경된 내용은 없습니다. 다시 시도하세요."
        case .unavailable: "지금은 로그인할 수 없습니다. 잠시 후 다시 시도하세요."
        case .alreadyYours: "이미 이 계정에 그 방법으로 로그인하고 있습니다. 변경된 내용은 없습니다."
        case .ownedByAnother: "그 방법으로 로그인하는 다른 계정이 있습니다. 그 계정도 내 것이라면 아래에서 합칠 수 있습니다."
        case .otherDeleted: "그 방법으로 로그인하던 계정은 삭제되었습니다. 변경된 내용은 없습니다."
        case .tooLarge: "데이터가 너무 많아 여기서 처리할 수 없습니다. 고객 지원에 문의하세요. 변경된 내용은 없습니다."
        case .nobody: "그 방법으로 로그인하는 계정이 없습니다. 이 계정의 로그인 방법으로 추가할 수 있습니다."
        }
    }
    func date(year: Int, month: Int, day: Int) -> String { "\(year)년 \(month)월 \(day)일" }
    func inAccount(_ account: HTML) -> HTML { "로그인한 계정: \(account)" }

    // Lists
    let back = "내 계정으로 돌아가기"
    let backToAgents = "에이전트로 돌아가기"
    let add = "추가"
    let remove = "삭제"
    func removeLabel(_ name: String) -> String { "\(name) 삭제" }
    func added(_ date: HTML) -> HTML { "추가한 날: \(date)" }
    func lastUsed(_ date: HTML) -> HTML { "마지막 사용: \(date)" }

    // Ways to sign in
    let methods = "로그인 방법"
    let noMethods = "아직 이 계정에 로그인할 방법이 없습니다. 계정을 만든 기기에서만 사용할 수 있습니다."
    let onlyMethod = "하나뿐인 로그인 방법"
    let addMethod = "로그인 방법 추가"
    let addMethodIntroduction = "추가할 방법으로 한 번 로그인하세요. 변경하기 전에 다시 확인합니다."
    func addMethodQuestion(_ provider: String) -> String { "\(provider) 로그인도 사용할까요?" }
    let addMethodEffect = "그 방법으로 로그인할 수 있는 사람은 내 계정에도 로그인할 수 있습니다."
    func removeMethodQuestion(_ provider: String) -> String { "\(provider) 로그인을 삭제할까요?" }
    let removeMethodEffect = "더 이상 이 방법으로 로그인할 수 없습니다. 이미 로그인한 기기와 앱은 그대로 유지됩니다."

    // Devices
    let devices = "기기"
    let noDevices = "앱에 로그인한 기기가 없습니다."
    func platform(_ name: String) -> String {
        switch name {
        case "ios": "iPhone 또는 iPad"
        case "android": "Android 기기"
        case "macos": "Mac 컴퓨터"
        case "web": "브라우저"
        default: name
        }
    }
    func madeBy(_ application: HTML) -> HTML { "사용한 앱: \(application)" }
    func removeDeviceQuestion(_ name: String) -> String { "이 기기를 삭제할까요? (\(name))" }
    let removeDeviceEffect = "그 기기의 앱에서 로그아웃됩니다. 다시 사용하려면 그 기기에서 다시 로그인해야 합니다."

    // Applications
    let apps = "연결된 앱"
    let noApps = "내 계정을 사용할 수 있는 앱이 없습니다."
    func connected(_ date: HTML) -> HTML { "연결한 날: \(date)" }
    let disconnect = "연결 해제"
    func disconnectLabel(_ name: String) -> String { "\(name) 연결 해제" }
    func disconnectQuestion(_ name: HTML) -> HTML { "\(name) 연결을 해제할까요?" }
    func disconnectTitle(_ name: String) -> String { "\(name) 연결을 해제할까요?" }
    let disconnectEffect = "앱이 내 계정을 더 이상 사용할 수 없고, 앱에서 로그아웃됩니다. 앱이 이미 가진 정보는 앱에 남습니다. 나중에 다시 연결할 수 있습니다."

    // Merging
    let otherAccount = "나의 다른 계정"
    let merge = "다른 계정과 합치기"
    let mergeIntroduction = "계정이 둘이라면 다른 계정을 이 계정에 합칠 수 있습니다. 그 계정에 한 번 로그인하면 옮겨지는 항목을 보여 드립니다."
    let mergeQuestion = "두 계정을 합칠까요?"
    let mergeChanged = "그사이 다른 계정의 내용이 바뀌었습니다. 옮겨지는 항목을 다시 확인하세요."
    let goes = "합쳐져 없어지는 계정"
    func signedInWith(_ identity: HTML) -> HTML { "이 계정에 로그인한 방법: \(identity)" }
    let stays = "남는 계정"
    let moves = "옮겨지는 항목"
    func movedMethods(_ count: Int) -> String { "로그인 방법 \(count)개" }
    func movedDevices(_ count: Int) -> String { "기기 \(count)대" }
    func movedApps(_ count: Int) -> String { "앱 연결 \(count)개" }
    func movedAgents(_ count: Int) -> String { "에이전트 \(count)개" }
    func movedApprovals(_ count: Int) -> String { "에이전트의 요청 \(count)개" }
    func movedSignIns(_ count: Int) -> String { "승인 대상 로그인 \(count)개" }
    let mergeEffect = "직접 되돌릴 수 없습니다. 다른 계정을 아는 앱에는 이제 이 계정의 일부라는 사실을 알립니다."
    let mergeButton = "합치기"

    // A copy of one's data
    let export = "내 데이터"
    let exportIntroduction = "이 서버에 저장된 내 정보의 사본을 받을 수 있습니다."
    let exportQuestion = "내 데이터를 내려받을까요?"
    let exportEffect =
        "이 서버에 저장된 내 정보가 모두 담긴 JSON 파일을 받습니다. 기기, 앱, 로그인 기록이 들어 있으니 다른 사람에게 보내지 마세요. 하루에 세 번까지 내려받을 수 있습니다."
    let exportButton = "내려받기"
    let exportLimit = "오늘은 이미 세 번 내려받았습니다. 내일 다시 시도하세요."

    // Sign-in history
    let history = "로그인 기록"
    let historyIntroduction = "내 계정에 언제 어떻게 로그인했는지, 거부된 로그인이 있는지 확인할 수 있습니다."
    let historyEffect = "내 계정에 로그인했거나 로그인이 거부된 기록입니다. 내가 한 것이 아니라면 그 기기나 로그인 방법을 삭제하세요. 시각은 UTC 기준입니다."
    let historyLink = "로그인 기록 보기"
    let noHistory = "최근 로그인 기록이 없습니다."
    func event(_ name: String, _ provider: String?) -> String {
        let with = provider.map { " (\($0))" } ?? ""
        return switch name {
        case "bootstrap": "기기에서 앱을 열었습니다"
        case "session": "앱에 로그인했습니다\(with)"
        case "exchange": "연결된 앱에 로그인했습니다"
        case "linked": "로그인 방법을 추가했습니다\(with)"
        case "promoted": "처음으로 로그인했습니다\(with)"
        case "swapped": "기기의 정보를 내 계정으로 옮겼습니다"
        case "merged": "다른 계정을 내 계정에 합쳤습니다"
        case "web_login": "브라우저에서 로그인했습니다\(with)"
        case "refused": "로그인이 거부되었습니다\(with)"
        default: name
        }
    }

    // Long lists
    func moment(_ date: String, _ time: String) -> String { "\(date) \(time)" }
    let firstPage = "첫 페이지"
    let nextPage = "다음 페이지"

    // Agents
    let agents = "에이전트"
    let agentsIntroduction = "내 승인을 요청할 수 있는 프로그램과 그 요청을 확인할 수 있습니다."
    let agentsEffect = "나를 대신해 작업하기 전에 앱에서 내 승인을 요청하는 프로그램입니다."
    let agentsLink = "에이전트 보기"
    let noAgents = "내 승인을 요청할 수 있는 프로그램이 없습니다."
    func agentKind(_ name: String) -> String {
        switch name {
        case "codex": "Codex 에이전트"
        case "claude": "Claude 에이전트"
        case "cursor": "Cursor 에이전트"
        case "custom": "기타 프로그램"
        default: name
        }
    }
    func mayAsk(_ actions: HTML) -> HTML { "요청할 수 있는 작업: \(actions)" }
    let revoke = "권한 취소"
    func revokeLabel(_ name: String) -> String { "\(name) 권한 취소" }
    func revokeQuestion(_ name: HTML) -> HTML { "\(name) 권한을 취소할까요?" }
    func revokeTitle(_ name: String) -> String { "\(name) 권한을 취소할까요?" }
    let revokeEffect = "이 에이전트는 더 이상 내 승인을 요청할 수 없습니다. 지금 기다리는 요청은 취소됩니다."

    // What agents asked
    let approvals = "에이전트의 요청"
    let approvalsIntroduction = "요청은 이 페이지가 아니라 앱에서 승인하거나 거절합니다. 시각은 UTC 기준입니다."
    let approvalsLink = "요청 보기"
    let noApprovals = "내 승인을 요청한 에이전트가 없습니다."
    func askedBy(_ agent: HTML) -> HTML { "요청한 에이전트: \(agent)" }
    func action(_ type: HTML) -> HTML { "작업 종류: \(type)" }
    let approvalBody = "요청 내용"
    func status(_ name: String) -> String {
        switch name {
        case "pending": "앱에서 결정을 기다리는 중"
        case "approved": "승인함"
        case "rejected": "거절함"
        case "expired": "시간 초과"
        case "cancelled": "취소됨"
        default: name
        }
    }
    func asked(_ time: HTML) -> HTML { "요청한 때: \(time)" }
    func decided(_ time: HTML) -> HTML { "결정한 때: \(time)" }
    func openUntil(_ time: HTML) -> HTML { "결정 기한: \(time)" }

    // Deletion
    let deletion = "계정 삭제"
    let deletionIntroduction = "이 계정을 삭제하고, 이 서버에 저장된 내 정보를 모두 지웁니다."
    let deleteQuestion = "계정을 삭제할까요?"
    let deleteEffects = [
        "모든 기기와 브라우저에서 로그아웃됩니다.",
        "연결된 앱은 내 계정을 더 이상 사용할 수 없고, 계정이 삭제되었다는 사실을 전달받습니다.",
        "에이전트는 더 이상 내 승인을 요청할 수 없습니다.",
    ]
    func erased(_ date: HTML) -> HTML { "\(date)에 이 서버에 저장된 내 정보가 모두 지워집니다." }
    let restorable = "그 전에 로그인하면 계정이 복원됩니다. 앱 연결은 복원되지 않습니다."
    let notRestorable = "되돌릴 수 없습니다."
    let deletionWord = "삭제"
    func typeTheWord(_ word: String) -> String { "확인을 위해 ‘\(word)’라고 입력하세요" }
    func wrongWord(_ word: String) -> String { "아무것도 삭제하지 않았습니다. 정말 삭제하려면 ‘\(word)’라고 입력하세요." }
    let deleteButton = "삭제하기"
    let deleted = "계정을 삭제했습니다"
    func deletedNext(_ date: HTML) -> HTML { "이 서버에 저장된 내 정보는 \(date)에 모두 지워집니다. 이 페이지는 닫아도 됩니다." }
}
