import ErrorCodes
import IdentityTokens
import Time

/// A particle stays on the line of the name it belongs to (`&NoBreak;`).
struct KoreanTexts: Texts {
    // On several pages
    let unnamedAccount = "내 계정"
    let continueButton = "계속"
    let cancelButton = "취소"
    let errorPrefix = "오류"
    let reference = "참조 번호"
    let help = "도움말"
    let privacy = "개인정보 처리방침"

    // Signing in
    let signIn = "로그인"
    let chooseAccount = "계정 선택"
    func toContinue(to application: HTML) -> HTML { "\(application)&NoBreak;에서 계속하려면 로그인하세요" }
    let toConnectDevice: HTML = "기기를 연결하려면 로그인하세요"
    let toOpenPage: HTML = "계속하려면 로그인하세요"
    func continueWith(_ provider: Provider) -> String {
        switch provider {
        case .apple: "Apple로 계속하기"
        case .google: "Google로 계속하기"
        }
    }
    let orUseAnotherAccount = "또는 다른 계정 사용"
    let noProvider = "아직 로그인할 방법이 없습니다. 서버 운영자가 로그인 방법을 설정해야 합니다."
    func notice(_ notice: LoginPage.Notice) -> String {
        switch notice {
        case .cancelled: "로그인이 완료되지 않았습니다. 다시 시도하거나 다른 방법을 선택하세요."
        case .failed: "로그인하지 못했습니다. 다시 시도하세요."
        case .unavailable: "지금은 로그인할 수 없습니다. 잠시 후 다시 시도하세요."
        case .linkedToOtherAccount(.apple):
            "이 이메일 주소는 다른 Apple 로그인을 사용하는 계정에 이미 연결되어 있습니다. 그 Apple 계정으로 로그인하세요."
        case .linkedToOtherAccount(.google):
            "이 이메일 주소는 다른 Google 로그인을 사용하는 계정에 이미 연결되어 있습니다. 그 Google 계정으로 로그인하세요."
        case .accountDeleted(let purgeAt):
            "삭제된 계정이므로 로그인할 수 없습니다. 계정 정보는 \(account.day(purgeAt))에 완전히 지워집니다."
        case .notApproved: "휴대폰에서 로그인이 승인되지 않았습니다. 다시 시도하거나 다른 방법을 선택하세요."
        }
    }

    // Approving on a phone
    let orOnPhone = "또는 휴대폰으로 로그인"
    let emailLabel = "계정의 이메일 주소"
    let approveOnPhone = "휴대폰에서 승인"
    let typeTheNumber = "휴대폰에서 앱을 열고 이 숫자를 입력하세요."
    let approvalPatience =
        "3분 안에 승인하면 이 페이지가 자동으로 계속됩니다. 휴대폰에 요청이 오지 않으면 주소를 확인하거나 다른 방법으로 로그인하세요."
    let scanCode = "휴대폰으로 코드 스캔"
    let scanTheCode = "휴대폰에서 앱을 열고 이 코드를 스캔하세요."
    let checkAgain = "다시 확인"
    let signInAnotherWay = "다른 방법으로 로그인"
    let pushTitle = "로그인 요청"
    let pushText = "브라우저에서 내 계정에 로그인하려고 합니다. 앱을 열어 승인하거나 거절하세요."
    let agentPushTitle = "에이전트의 승인 요청"
    let agentPushText = "에이전트가 나를 대신해 작업하려고 합니다. 앱을 열어 내용을 확인하고 승인하거나 거절하세요."

    // Consent
    func allowApplication(_ application: HTML) -> HTML { "\(application)&NoBreak;에 계정 사용을 허용할까요?" }
    func allowApplicationTitle(_ application: String) -> String { "\(application)에 허용할까요?" }
    func connectDevice(to application: HTML) -> HTML { "기기를 \(application)&NoBreak;에 연결할까요?" }
    func connectDeviceTitle(_ application: String) -> String { "기기를 \(application)에 연결할까요?" }
    func willBeAble(_ application: HTML) -> HTML { "\(application)&NoBreak;에 허용되는 항목" }
    func scope(_ name: String) -> String {
        switch name {
        case "openid": "로그인할 때 나를 알아보기"
        case "profile:basic", "profile": "이름과 닉네임 보기"
        case "email": "이메일 주소 보기"
        case "phone": "전화번호 보기"
        case "address": "우편 주소 보기"
        case "identity:level": "본인 확인 수준 보기"
        case "offline_access": "자리를 비운 동안에도 연결 유지"
        default: "“\(name)” 항목에 저장된 내 정보 보기"
        }
    }
    func leadsToSite(_ host: HTML) -> HTML { "다음 사이트로 이동합니다: \(host)" }
    func leadsToApp(_ scheme: HTML) -> HTML { "다음 앱으로 이동합니다: \(scheme)" }
    let useAnotherAccount = "다른 계정 사용"
    let allowButton = "허용"
    let compareCode = "기기에 표시된 코드가 아래와 같아야 합니다."
    let onlyOwnDevice = "본인의 기기에서 직접 시작한 경우에만 허용하세요."

    // Devices
    let connectADevice = "기기 연결"
    let typeTheCode = "기기에 표시된 코드를 입력하세요."
    let codeLabel = "코드"
    func notice(_ notice: DevicePage.Notice) -> String {
        switch notice {
        case .unknownCode: "이 코드로 기다리는 기기가 없습니다. 기기의 코드를 다시 확인하세요. 10분이 지나면 새 코드가 필요합니다."
        case .tooManyTries: "잘못된 코드를 너무 많이 입력했습니다. 10분 후에 다시 시도하세요."
        }
    }
    let deviceConnected = "기기가 연결되었습니다"
    let deviceConnectedNext = "기기에서 계속하세요. 이 페이지는 닫아도 됩니다."
    let deviceNotConnected = "기기를 연결하지 않았습니다"
    let deviceNotConnectedNext = "기기에 아무 정보도 전달되지 않았습니다. 이 페이지는 닫아도 됩니다."

    // Signing out
    let signOut = "로그아웃"
    let signOutQuestion = "로그아웃할까요?"
    let signOutEffect = "이 브라우저에서 로그아웃됩니다. 이미 로그인한 앱의 연결은 유지됩니다."
    let signedOut = "로그아웃되었습니다"
    let signedOutNext = "이 페이지는 닫아도 됩니다."

    // A person's own account
    let account: any AccountTexts = KoreanAccountTexts()

    // What cannot go on
    func heading(_ problem: ErrorPage.Problem) -> String {
        switch problem {
        case .unknownApplication: "알 수 없는 앱입니다"
        case .unknownRedirect: "이 앱으로 돌아갈 수 없습니다"
        case .invalidRequest: "링크가 올바르지 않습니다"
        case .expired: "시간이 초과되었습니다"
        case .otherBrowser: "브라우저를 확인할 수 없습니다"
        case .forged: "요청을 처리할 수 없습니다"
        case .notFound: "페이지를 찾을 수 없습니다"
        case .adminRequired: "관리자만 볼 수 있는 페이지입니다"
        case .refused: "처리하지 못했습니다"
        case .rateLimited: "시도 횟수가 너무 많습니다"
        case .unavailable: "지금은 이용할 수 없습니다"
        case .unforeseen: "문제가 발생했습니다"
        }
    }
    func explanation(_ problem: ErrorPage.Problem) -> String {
        switch problem {
        case .unknownApplication: "등록되지 않았거나 사용이 중지된 앱입니다. 앱 개발자에게 알려 주세요."
        case .unknownRedirect: "앱이 등록되지 않은 주소로 이동하려고 하여 이동을 중단했습니다. 앱 개발자에게 알려 주세요."
        case .invalidRequest: "빠지거나 중복된 값이 있습니다."
        case .expired: "로그인은 15분 안에 마쳐야 합니다."
        case .otherBrowser: "처음 시작한 브라우저를 사용하고 쿠키를 허용하세요."
        case .forged: "다른 곳에서 보냈거나 너무 오래 열려 있던 페이지에서 보낸 요청입니다. 변경된 내용은 없습니다."
        case .adminRequired: "로그아웃한 뒤 관리자 계정으로 다시 로그인하세요."
        case .refused: "페이지를 연 뒤에 내용이 바뀌었습니다. 아무것도 변경되지 않았습니다. 이전 페이지에서 다시 확인하세요."
        case .notFound: "주소를 확인하거나 이전 화면으로 돌아가세요."
        case .rateLimited: "몇 분 후에 다시 시도하세요."
        case .unavailable: "잠시 후 다시 시도하세요. 변경된 내용은 없습니다."
        case .unforeseen: "서버에서 오류가 발생했습니다. 다시 시도해도 계속되면 아래 참조 번호를 알려 주세요."
        }
    }
    let startAgain = "처음 화면으로 돌아가 다시 시작하세요."
    let startAgainInApp = "앱으로 돌아가 다시 시작하세요."
    let forDevelopers = "이 앱의 개발자인가요?"
    let diagnoseThis = "원인 확인하기"

    // Diagnosis
    let diagnose = "연동 진단"
    let diagnoseIntroduction = "앱의 로그인 요청에서 자주 생기는 오류를 찾습니다. 앱으로는 아무것도 전송하지 않으며 비밀 값도 필요하지 않습니다."
    let authorizeURL = "인가 요청 URL"
    let orInParts = "또는 항목별로 입력"
    let clientID = "클라이언트 ID"
    let redirectURI = "리디렉션 URI"
    let scopes = "범위(scope)"
    let challengeMethod = "code_challenge_method"
    let optional = "선택"
    let checkButton = "진단"
    let application = "애플리케이션"
    func application(_ standing: DiagnosePage.Standing) -> String {
        switch standing {
        case .active: "등록됨, 사용 중"
        case .inactive: "등록되었지만 사용할 수 없음: 운영자의 승인이 필요합니다"
        case .unknown: "등록되지 않음"
        }
    }
    let checks = "진단 결과"
    let server = "서버 상태"
    func status(_ status: DiagnosePage.Status) -> String {
        switch status {
        case .ok: "정상"
        case .fault: "문제"
        case .unknown: "알 수 없음"
        }
    }
    func check(_ id: String) -> String? {
        switch id {
        case "scheme_underscore": "밑줄이 없는 스킴"
        case "idp_host_conflict": "이 서버가 아닌 리디렉션 주소"
        case "redirect_unregistered": "등록된 리디렉션 URI"
        case "redirect_characters": "올바른 형식의 리디렉션 URI"
        case "openid_missing": "openid 범위"
        case "pkce_missing": "PKCE(S256)"
        case "database": "데이터베이스"
        case "signing_key": "서명 키"
        case "migrations": "스키마"
        default: nil
        }
    }
    func finding(_ check: DiagnosePage.Check) -> String {
        switch (check.id, check.status) {
        case ("scheme_underscore", .ok): "스킴에 밑줄이 없습니다."
        case ("scheme_underscore", .fault):
            "iOS는 밑줄이 있는 스킴을 거부합니다. com.example.myapp 같은 스킴을 등록해 사용하세요."
        case ("idp_host_conflict", .ok): "리디렉션 주소가 이 서버 밖을 가리킵니다."
        case ("idp_host_conflict", .fault):
            "리디렉션 주소가 이 서버의 호스트입니다. 이 호스트의 유니버설 링크는 서버의 앱이 열기 때문에 앱이 코드를 받지 못합니다. "
                + "사용자 정의 스킴이나 다른 호스트를 사용하세요."
        case ("redirect_unregistered", .ok): "등록된 리디렉션 URI입니다."
        case ("redirect_unregistered", .fault):
            "등록되지 않은 리디렉션 URI입니다. 스킴, 호스트, 포트, 경로, 쿼리, 끝의 슬래시까지 문자열이 모두 같아야 합니다."
        case ("redirect_unregistered", .unknown): "비교할 애플리케이션이나 redirect_uri가 없습니다."
        case ("redirect_characters", .ok): "리디렉션 URI에 허용되는 문자만 있습니다."
        case ("redirect_characters", .fault):
            "리디렉션 URI는 2000자 이하의 ASCII 문자여야 하고, +, &, *를 포함할 수 없으며, https:// 뒤에 호스트가 있어야 합니다."
        case ("scheme_underscore", .unknown), ("idp_host_conflict", .unknown), ("redirect_characters", .unknown):
            "redirect_uri를 입력하면 진단합니다."
        case ("openid_missing", .ok): "범위에 openid가 있습니다."
        case ("openid_missing", .fault): "요청하거나 허용된 범위에 openid가 없습니다. openid가 없으면 id_token을 받을 수 없습니다."
        case ("openid_missing", .unknown): "scope를 입력하면 진단합니다. 최근 24시간 동안 발견된 문제는 없습니다."
        case ("pkce_missing", .ok): "S256 방식의 PKCE를 사용합니다."
        case ("pkce_missing", .fault):
            "code_challenge와 code_challenge_method=S256을 보내세요. 모든 클라이언트에 필요합니다(RFC 7636)."
        case ("pkce_missing", .unknown):
            "code_challenge_method를 입력하면 진단합니다. 최근 24시간 동안 발견된 문제는 없습니다."
        case ("database", .ok): "응답합니다."
        case ("database", _): "응답하지 않습니다. 운영자가 확인해야 합니다."
        case ("signing_key", .ok): "토큰에 서명할 수 있습니다."
        case ("signing_key", _): "토큰에 서명할 키를 알 수 없습니다."
        case ("migrations", .ok): "테이블이 이 버전에 맞습니다."
        case ("migrations", _): "테이블을 확인하지 못했거나 이 버전에 맞지 않습니다."
        default: check.message
        }
    }

    // Mail, as plain text
    let mergeCodeSubject = "계정 합치기 코드"
    func mergeCode(_ code: String, at issuer: String) -> String {
        """
        \(issuer)의 다른 계정에 로그인한 사람이 회원님의 계정을 그 계정과 합치려고 합니다. 본인이라면 그 화면에 아래 코드를 입력하세요.

            \(code)

        이 코드는 5분 동안 그 계정에서만 사용할 수 있습니다.

        본인이 아니라면 아무것도 하지 말고, 코드를 누구에게도 알려 주지 마세요. 코드를 아는 사람은 회원님의 계정을 가져갈 수 있습니다.

        """
    }

    // Administration
    let console = ConsoleTexts.korean

    // Error codes
    let errorCodes = "오류 코드"
    let errorCodesIntroduction = "서버 응답에 포함된 오류 코드의 의미와 해결 방법입니다. 응답의 request_id로 서버 로그에서 요청을 찾을 수 있습니다."
    func section(_ section: ErrorCode.Section) -> String {
        switch section {
        case .oauth: "OAuth와 OpenID Connect"
        case .requests: "요청과 인증 정보"
        case .accounts: "계정과 기기"
        case .applications: "애플리케이션"
        case .merging: "계정 병합"
        case .approvals: "승인"
        }
    }
    func meaning(_ code: ErrorCode) -> String { code.meaningInKorean }
}
