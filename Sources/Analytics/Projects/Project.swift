import MariaDB

/// Apps that share their end users.
package struct Project: Sendable {
    package typealias ID = EntityID<Project>

    /// What happens if somebody claims an id that another user has claimed (analytics §5).
    package enum ClaimConflict: String, Sendable, CaseIterable, Bindable, Readable {
        case latest, refuse
    }

    package var id: ID
    package var claimConflict: ClaimConflict
    /// In bytes; nil for the default (§11.1).
    package var attachmentUserQuota: Int64?
    package var attachmentProjectQuota: Int64?
    package var isDeleted: Bool
}

/// The owner of projects.
package enum Team {
    package typealias ID = EntityID<Team>
}
