import MariaDB

/// Apps that share their end users.
package struct Project: Sendable {
    package typealias ID = EntityID<Project>

    /// What a claim of an id does that another user claimed (analytics §5).
    package enum ClaimConflict: String, Sendable, CaseIterable, Bindable, Readable {
        case latest, refuse
    }

    package var id: ID
    package var claimConflict: ClaimConflict
    /// In bytes; nil: the default (§11.1).
    package var attachmentUserQuota: Int64?
    package var attachmentProjectQuota: Int64?
    package var isDeleted: Bool
}

/// Who owns projects.
package enum Team {
    package typealias ID = EntityID<Team>
}
