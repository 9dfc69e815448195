/// What the pages of a person's own account say, in one language (accounts §4.8).
package protocol AccountTexts: Sendable {
    var title: String { get }
    func notice(_ notice: AccountPage.Notice) -> String
    func date(year: Int, month: Int, day: Int) -> String
    /// - Parameter account: its name, as `Texts.name` sets it.
    func inAccount(_ account: HTML) -> HTML

    // Lists
    var back: String { get }
    var backToAgents: String { get }
    var add: String { get }
    var remove: String { get }
    func removeLabel(_ name: String) -> String
    func added(_ date: HTML) -> HTML
    func lastUsed(_ date: HTML) -> HTML

    // Ways to sign in
    var methods: String { get }
    var noMethods: String { get }
    var onlyMethod: String { get }
    var addMethod: String { get }
    var addMethodIntroduction: String { get }
    func addMethodQuestion(_ provider: String) -> String
    var addMethodEffect: String { get }
    func removeMethodQuestion(_ provider: String) -> String
    var removeMethodEffect: String { get }

    // Devices
    var devices: String { get }
    var noDevices: String { get }
    func platform(_ name: String) -> String
    func madeBy(_ application: HTML) -> HTML
    func removeDeviceQuestion(_ name: String) -> String
    var removeDeviceEffect: String { get }

    // Applications
    var apps: String { get }
    var noApps: String { get }
    func connected(_ date: HTML) -> HTML
    var disconnect: String { get }
    func disconnectLabel(_ name: String) -> String
    func disconnectQuestion(_ name: HTML) -> HTML
    func disconnectTitle(_ name: String) -> String
    var disconnectEffect: String { get }

    // Merging
    var otherAccount: String { get }
    var merge: String { get }
    var mergeIntroduction: String { get }
    var mergeQuestion: String { get }
    var mergeChanged: String { get }
    var goes: String { get }
    /// - Parameter identity: a provider, and the address there.
    func signedInWith(_ identity: HTML) -> HTML
    var stays: String { get }
    var moves: String { get }
    func movedMethods(_ count: Int) -> String
    func movedDevices(_ count: Int) -> String
    func movedApps(_ count: Int) -> String
    func movedAgents(_ count: Int) -> String
    func movedApprovals(_ count: Int) -> String
    func movedSignIns(_ count: Int) -> String
    var mergeEffect: String { get }
    var mergeButton: String { get }

    // A copy of one's data
    var export: String { get }
    var exportIntroduction: String { get }
    var exportQuestion: String { get }
    var exportEffect: String { get }
    var exportButton: String { get }
    var exportLimit: String { get }

    // Sign-in history
    var history: String { get }
    var historyIntroduction: String { get }
    var historyEffect: String { get }
    var historyLink: String { get }
    var noHistory: String { get }
    /// What happened, as the login history names it; a name that is unknown stands for itself.
    func event(_ name: String, _ provider: String?) -> String

    // Long lists
    /// - Parameter time: hour and minute.
    func moment(_ date: String, _ time: String) -> String
    var firstPage: String { get }
    var nextPage: String { get }

    // Agents
    var agents: String { get }
    var agentsIntroduction: String { get }
    var agentsEffect: String { get }
    var agentsLink: String { get }
    var noAgents: String { get }
    /// - Parameter name: as the interface names it; one that is unknown stands for itself.
    func agentKind(_ name: String) -> String
    func mayAsk(_ actions: HTML) -> HTML
    var revoke: String { get }
    func revokeLabel(_ name: String) -> String
    func revokeQuestion(_ name: HTML) -> HTML
    func revokeTitle(_ name: String) -> String
    var revokeEffect: String { get }

    // What agents asked
    var approvals: String { get }
    var approvalsIntroduction: String { get }
    var approvalsLink: String { get }
    var noApprovals: String { get }
    func askedBy(_ agent: HTML) -> HTML
    func action(_ type: HTML) -> HTML
    var approvalBody: String { get }
    /// - Parameter name: as the interface names it; one that is unknown stands for itself.
    func status(_ name: String) -> String
    func asked(_ time: HTML) -> HTML
    func decided(_ time: HTML) -> HTML
    func openUntil(_ time: HTML) -> HTML

    // Deletion
    var deletion: String { get }
    var deletionIntroduction: String { get }
    var deleteQuestion: String { get }
    /// What happens at once, a sentence each.
    var deleteEffects: [String] { get }
    func erased(_ date: HTML) -> HTML
    var restorable: String { get }
    var notRestorable: String { get }
    /// In lower case.
    var deletionWord: String { get }
    func typeTheWord(_ word: String) -> String
    func wrongWord(_ word: String) -> String
    var deleteButton: String { get }
    var deleted: String { get }
    func deletedNext(_ date: HTML) -> HTML
}
