struct EnglishAccountTexts: AccountTexts {
    let title = "Your account"
    func notice(_ notice: AccountPage.Notice) -> String {
        switch notice {
        case .methodAdded: "You can now sign in that way, too."
        case .methodRemoved: "You can no longer sign in that way."
        case .deviceRemoved: "The device was removed. The app there is signed out."
        case .appDisconnected: "The app no longer has access to your account."
        case .agentRevoked: "The agent can no longer ask for your approval."
        case .merged: "The other account was merged into this one."
        case .lastMethod: "This is your only way to sign in. Add another one before you remove it."
        case .gone: "That is no longer part of your account. Nothing was changed."
        case .anonymous: "Nobody can sign in to this account yet, so this cannot be done. Nothing was changed."
        case .noOtherMethod: "You have added every way to sign in that there is."
        case .providerConnected: "You already sign in with this provider. Remove that way first if you want another."
        case .tripGone: "That took too long, or somebody else began it, or another browser did. Please start again."
        case .cancelled: "You did not finish signing in. Nothing was changed."
        case .failed: "Signing in did not work. Nothing was changed. Please try again."
        case .unavailable: "Signing in is not possible at the moment. Please try again shortly."
        case .alreadyYours: "You already sign in to this account that way. Nothing was changed."
        case .ownedByAnother:
            "Another account is signed in to that way. If it is yours, too, you can merge it with this one below."
        case .otherDeleted: "The account that is signed in to that way was deleted. Nothing was changed."
        case .tooLarge: "There is too much data for this to be done here. Ask support. Nothing was changed."
        case .nobody: "No account is signed in to that way. You can add it to this one as a way to sign in."
        }
    }
    func date(year: Int, month: Int, day: Int) -> String {
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        return "\(months[month - 1]) \(day), \(year)"
    }
    func inAccount(_ account: HTML) -> HTML { "You are signed in as \(account)." }

    // Lists
    let back = "Back to your account"
    let backToAgents = "Back to your agents"
    let add = "Add"
    let remove = "Remove"
    func removeLabel(_ name: String) -> String { "Remove \(name)" }
    func added(_ date: HTML) -> HTML { "Added on \(date)" }
    func lastUsed(_ date: HTML) -> HTML { "Last used on \(date)" }

    // Ways to sign in
    let methods = "Ways to sign in"
    let noMethods = "Nobody can sign in to this account yet. It belongs to the device that it was made on."
    let onlyMethod = "Your only way to sign in"
    let addMethod = "Add a way to sign in"
    let addMethodIntroduction = "Sign in there once. Then you are asked again before anything changes."
    func addMethodQuestion(_ provider: String) -> String { "Sign in with \(provider), too?" }
    let addMethodEffect = "Whoever can sign in there can then sign in to your account."
    func removeMethodQuestion(_ provider: String) -> String { "Stop signing in with \(provider)?" }
    let removeMethodEffect =
        "You will no longer be able to sign in that way. Devices and apps that you are signed in on stay signed in."

    // Devices
    let devices = "Devices"
    let noDevices = "You are not signed in to the app on any device."
    func platform(_ name: String) -> String {
        switch name {
        case "ios": "iPhone or iPad"
        case "android": "Android device"
        case "macos": "Mac"
        case "web": "Browser"
        default: name
        }
    }
    func madeBy(_ application: HTML) -> HTML { "In the app \(application)" }
    func removeDeviceQuestion(_ name: String) -> String { "Remove this device? (\(name))" }
    let removeDeviceEffect = "The app there is signed out. If you want to use it again, sign in there."

    // Applications
    let apps = "Connected apps"
    let noApps = "No app has access to your account."
    func connected(_ date: HTML) -> HTML { "Connected on \(date)" }
    let disconnect = "Disconnect"
    func disconnectLabel(_ name: String) -> String { "Disconnect \(name)" }
    func disconnectQuestion(_ name: HTML) -> HTML { "Disconnect \(name)?" }
    func disconnectTitle(_ name: String) -> String { "Disconnect \(name)?" }
    let disconnectEffect =
        "The app loses its access, and you are signed out there. It keeps what it already knows. You can connect it again."

    // Merging
    let otherAccount = "Another account of yours"
    let merge = "Merge with another account"
    let mergeIntroduction =
        "If you have two accounts, the other one can go into this one. Sign in to it once; then you see what moves."
    let mergeQuestion = "Merge these two accounts?"
    let mergeChanged = "The other account has changed meanwhile. Please look again at what moves."
    let goes = "This account goes into yours"
    func signedInWith(_ identity: HTML) -> HTML { "You signed in to it with \(identity)." }
    let stays = "This account stays"
    let moves = "What moves"
    func movedMethods(_ count: Int) -> String { count == 1 ? "1 way to sign in" : "\(count) ways to sign in" }
    func movedDevices(_ count: Int) -> String { count == 1 ? "1 device" : "\(count) devices" }
    func movedApps(_ count: Int) -> String {
        count == 1 ? "1 connection with an app" : "\(count) connections with apps"
    }
    func movedAgents(_ count: Int) -> String { count == 1 ? "1 agent" : "\(count) agents" }
    func movedApprovals(_ count: Int) -> String {
        count == 1 ? "1 request of an agent" : "\(count) requests of agents"
    }
    func movedSignIns(_ count: Int) -> String {
        count == 1 ? "1 sign-in that was to be approved" : "\(count) sign-ins that were to be approved"
    }
    let mergeEffect =
        "You cannot undo this yourself. Apps that know the other account are told that it is now part of this one."
    let mergeButton = "Merge"

    // A copy of one's data
    let export = "Your data"
    let exportIntroduction = "Get a copy of everything that is stored about you here."
    let exportQuestion = "Download your data?"
    let exportEffect =
        "You get one JSON file with everything that is stored about you here. It names your devices, apps and sign-ins, so keep it to yourself. You can download it three times a day."
    let exportButton = "Download"
    let exportLimit = "You have downloaded your data three times today. Try again tomorrow."

    // Sign-in history
    let history = "Sign-in history"
    let historyIntroduction = "See when and how somebody signed in to your account, or was refused."
    let historyEffect =
        "When and how somebody signed in to your account, or was refused. If that was not you, remove the device or the way to sign in. Times are in UTC."
    let historyLink = "See sign-ins"
    let noHistory = "There were no sign-ins lately."
    func event(_ name: String, _ provider: String?) -> String {
        let with = provider.map { " with \($0)" } ?? ""
        return switch name {
        case "bootstrap": "Opened the app on a device"
        case "session": "Signed in to the app\(with)"
        case "exchange": "Signed in to a connected app"
        case "linked": "Added a way to sign in\(provider.map { ": \($0)" } ?? "")"
        case "promoted": "Signed in for the first time\(with)"
        case "swapped": "Moved a device’s data into your account"
        case "merged": "Merged another account into yours"
        case "web_login": "Signed in on the web\(with)"
        case "refused": "A sign-in was refused\(provider.map { ": \($0)" } ?? "")"
        default: name
        }
    }

    // Long lists
    func moment(_ date: String, _ time: String) -> String { "\(date), \(time)" }
    let firstPage = "First page"
    let nextPage = "Next page"

    // Agents
    let agents = "Agents"
    let agentsIntroduction = "See which programs may ask for your approval, and what they asked."
    let agentsEffect = "These programs ask you in the app before they do something for you."
    let agentsLink = "See agents"
    let noAgents = "No program may ask for your approval."
    func agentKind(_ name: String) -> String {
        switch name {
        case "codex": "Codex"
        case "claude": "Claude"
        case "cursor": "Cursor"
        case "custom": "Another program"
        default: name
        }
    }
    func mayAsk(_ actions: HTML) -> HTML { "May only ask for \(actions)" }
    let revoke = "Revoke"
    func revokeLabel(_ name: String) -> String { "Revoke \(name)" }
    func revokeQuestion(_ name: HTML) -> HTML { "Revoke \(name)?" }
    func revokeTitle(_ name: String) -> String { "Revoke \(name)?" }
    let revokeEffect = "The agent can no longer ask for your approval. What it is asking for now is cancelled."

    // What agents asked
    let approvals = "Requests of agents"
    let approvalsIntroduction = "You approve or reject a request in the app, not here. Times are in UTC."
    let approvalsLink = "See requests"
    let noApprovals = "No agent has asked for your approval."
    func askedBy(_ agent: HTML) -> HTML { "Asked by \(agent)" }
    func action(_ type: HTML) -> HTML { "Kind of action: \(type)" }
    let approvalBody = "What it says"
    func status(_ name: String) -> String {
        switch name {
        case "pending": "Waiting for you in the app"
        case "approved": "Approved"
        case "rejected": "Rejected"
        case "expired": "Expired"
        case "cancelled": "Cancelled"
        default: name
        }
    }
    func asked(_ time: HTML) -> HTML { "Asked on \(time)" }
    func decided(_ time: HTML) -> HTML { "Decided on \(time)" }
    func openUntil(_ time: HTML) -> HTML { "Open until \(time)" }

    // Deletion
    let deletion = "Delete your account"
    let deletionIntroduction = "Give up this account, and have everything erased that is stored about you here."
    let deleteQuestion = "Delete your account?"
    let deleteEffects = [
        "You are signed out on every device and in every browser.",
        "Connected apps lose their access, and are told that your account was deleted.",
        "Agents can no longer ask for your approval.",
    ]
    func erased(_ date: HTML) -> HTML { "On \(date) everything that is stored about you here is erased." }
    let restorable = "If you sign in before that, you get your account back. Apps stay disconnected."
    let notRestorable = "You cannot undo this."
    let deletionWord = "delete"
    func typeTheWord(_ word: String) -> String { "Type the word “\(word)” to confirm" }
    func wrongWord(_ word: String) -> String { "Nothing was deleted. If you mean it, type the word “\(word)”." }
    let deleteButton = "Delete"
    let deleted = "Your account was deleted"
    func deletedNext(_ date: HTML) -> HTML {
        "Everything that is stored about you here is erased on \(date). You can close this page."
    }
}
