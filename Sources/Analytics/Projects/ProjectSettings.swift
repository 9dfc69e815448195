/// The settings of a project, which an operator chooses.
package struct ProjectSettings: Sendable {
    /// In days, for each kind of event; nil for the default of the specification (analytics §14.2).
    package struct Retention: Sendable {
        package var events: Int64?
        package var metrics: Int64?
        package var funnels: Int64?

        package init(events: Int64? = nil, metrics: Int64? = nil, funnels: Int64? = nil) {
            self.events = events
            self.metrics = metrics
            self.funnels = funnels
        }
    }

    package var name: String
    /// Unique within the team.
    package var slug: String
    /// `#rrggbb`, for user interfaces.
    package var color: String?
    package var claimConflict: Project.ClaimConflict
    package var retentionDays: Retention
    /// In bytes; nil for the default (analytics §11.1).
    package var attachmentUserQuota: Int64?
    package var attachmentProjectQuota: Int64?
    /// Whether real user ids are those of the accounts, so that signing in claims (accounts Stage 5).
    package var usesAccounts: Bool
    /// Whether the purge of an account deletes its events; otherwise they become nobody's.
    package var purgesEvents: Bool

    package init(
        name: String, slug: String, color: String? = nil, claimConflict: Project.ClaimConflict = .latest,
        retentionDays: Retention = Retention(), attachmentUserQuota: Int64? = nil,
        attachmentProjectQuota: Int64? = nil, usesAccounts: Bool = false, purgesEvents: Bool = false
    ) {
        self.name = name
        self.slug = slug
        self.color = color
        self.claimConflict = claimConflict
        self.retentionDays = retentionDays
        self.attachmentUserQuota = attachmentUserQuota
        self.attachmentProjectQuota = attachmentProjectQuota
        self.usesAccounts = usesAccounts
        self.purgesEvents = purgesEvents
    }

    /// A hundred years.
    private static let longestRetention: Int64 = 36_500
    /// A pebibyte.
    private static let largestQuota: Int64 = 1 << 50

    func check() throws(OperatorError) {
        try OperatorError.check(name: name, of: "the project")
        guard (1...64).contains(slug.utf8.count), slug.utf8.allSatisfy(isSlugCharacter) else {
            throw OperatorError("\"\(slug)\" is not a valid slug; use 1 to 64 of a-z 0-9 -")
        }
        if let color, color.wholeMatch(of: /#[0-9A-Fa-f]{6}/) == nil {
            throw OperatorError("\"\(color)\" is not a valid color; write it as #rrggbb")
        }
        for days in [retentionDays.events, retentionDays.metrics, retentionDays.funnels] {
            if let days, !(1...Self.longestRetention).contains(days) {
                throw OperatorError("a retention of \(days) days is not possible; choose 1 to \(Self.longestRetention)")
            }
        }
        for quota in [attachmentUserQuota, attachmentProjectQuota] {
            if let quota, !(0...Self.largestQuota).contains(quota) {
                throw OperatorError("a quota of \(quota) bytes is not possible; choose 0 to \(Self.largestQuota)")
            }
        }
    }

    private func isSlugCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
