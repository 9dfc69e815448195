import Database
package import IdentityTokens
import JSON
package import MariaDB
import Text
import Time

/// A swap of the calling anonymous account A into the identified account B, which holds an identity (accounts §1.9).
package struct Swap: Sendable {
    /// The proof that the caller holds B's identity.
    package enum Proof: Sendable {
        /// Already verified.
        case token(IdentityToken)
        /// The ticket of the refused link before, so that the user signs in only once. The request may repeat the
        /// provider.
        case ticket(String, Provider?)
    }

    package var proof: Proof
    package var fullName: PersonName?
    package var selection: SwapSelection
    package var precondition: Precondition
    /// Used only for the PAK's label and the audit row.
    package var deviceUUID: String?
    package var platform: String?

    package init(
        proof: Proof, fullName: PersonName?, selection: SwapSelection, precondition: Precondition, deviceUUID: String?,
        platform: String?
    ) {
        self.proof = proof
        self.fullName = fullName
        self.selection = selection
        self.precondition = precondition
        self.deviceUUID = deviceUUID
        self.platform = platform
    }
}

/// The answer to a dry run: what the swap would do now.
package struct SwapPreview: Sendable {
    package var plan: String
    package var survivor: User
    package var counts: SwapCounts
    package var grants: [SwapPlan.PlannedGrant]
}

extension Accounts {
    /// Moves A's assets into B and deletes A. Afterwards A's device belongs to B.
    ///
    /// Nothing is decided before both users are locked. Everything is written in the caller's transaction, so if any
    /// statement fails, A, its PAK and B stay as they were. The caller has already been checked to be anonymous.
    ///
    /// - Returns: that B does not take A, as a result and not as an error, because its row in B's login history must be
    ///   committed.
    package func swap(
        _ swap: Swap, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<(SignedIn, SwapCounts), Failure> {
        let connection = transaction.connection
        let proven = try connection.identity(behind: swap.proof, of: caller, at: transaction.now)
        let holder = try connection.holder(of: proven)
        let (a, other) = try transaction.lockCaller(caller, and: holder?.canonical)
        if !a.anonymous { throw Failure.nonAnonymousCaller }
        // Read again under the locks: the ticket may have been used, or the identity may have another holder.
        let held = try connection.holder(of: proven)
        guard held == holder, try connection.identity(behind: swap.proof, of: caller, at: transaction.now) == proven
        else { throw TransactionMustRestart() }
        guard let proven else { throw Failure.invalidSwapTicket }
        var b: User
        do {
            b = try survivor(holder, other, caller: a)
        } catch let failure as Failure {
            if let other, other.id != a.id {
                try transaction.noteLogin(
                    .refused, of: other.id, provider: proven.provider, on: nil, device: caller.device)
            }
            return .failure(failure)
        }

        let grants: [SwapPlan.PlannedGrant]
        if swap.precondition == .none {
            grants = try connection.plannedGrants(from: a.id, into: b.id, swap.selection)
        } else {
            let plan = try connection.swapPlan(
                from: a.id, into: b.id, swap.selection, keeping: caller.device, at: transaction.now)
            try swap.precondition.check(against: plan.name(into: b.id, swap.selection))
            grants = plan.grants
        }

        try connection.checkHistory(of: a.id)
        if case .token(let token) = swap.proof { try transaction.renewAppleConsent(by: token, of: held) }
        let formerName = b.name
        let movedGrants = Set(grants.filter { $0.fate == .moved }.map(\.id))
        var scanned = try journaling.map { _ in
            try transaction.rowsBeforeSwap(of: a.id, moving: caller.device, movedGrants, swap.selection)
        }
        let pushApprovals = try transaction.pushApprovals(naming: a.id, in: scanned)
        let reassigned = try transaction.reassignDevice(of: caller, to: b.id)
        let pak = try transaction.issuePAK(
            to: b.id, device: reassigned?.device.id, label: swap.deviceUUID ?? swap.platform, actor: .user(b.id),
            besides: [])
        try transaction.noteLogin(
            .swapped, of: b.id, provider: proven.provider, on: nil, device: reassigned?.device.id)
        let (counts, duplicates, denied) = try transaction.moveAssets(
            from: a.id, into: b.id, grants, pushApprovals, swap.selection, journal: &scanned)
        if b.name.isBlank, let name = swap.fullName?.display { b.name = name }
        if b.isDueForActivity(at: transaction.now) { b.lastActiveAt = transaction.now }
        try transaction.updateSurvivor(b)
        try transaction.clearAuditByOthers(about: a.id)
        // The cascade deletes the ticket, A's other PAKs, devices and sessions, and what was not selected.
        try transaction.connection.execute("DELETE FROM users WHERE id = ?", a.id)
        if let scanned, let journaling {
            let moved = SwappedRows(
                device: reassigned?.device.id, grants: movedGrants, hasAgents: swap.selection.agentApprovals,
                duplicates: duplicates, hasPushApprovals: swap.selection.notifications, denied: denied)
            try transaction.keepJournal(
                ofSwapFrom: a.id, into: b.id, scanned, moved, name: (formerName, b.name), journaling)
        }

        let told = Dictionary(grouping: grants.filter { $0.fate != .dropped && $0.notifiesSwap }, by: \.application)
        for (application, grants) in told {
            transaction.emit(
                .userMerged(a.id, into: b.id, by: .anonymousSwap, knownAs: grants.map(\.sub), at: application))
        }
        transaction.audit(.userSwapped, user: b.id, actor: .user(a.id), auditDetails(swap, from: a.id, counts))
        let signedIn = SignedIn(
            user: b, accessToken: pak.secret.text, scopes: pak.scopes, device: reassigned?.device,
            deviceSecret: reassigned?.secret.text)
        return .success((signedIn, counts))
    }

    /// Makes the same checks and the same plan on a consistent snapshot, without a lock or a write.
    ///
    /// - Parameter connection: in a read-only snapshot.
    package func previewSwap(_ swap: Swap, by caller: Caller, _ connection: Connection) throws -> SwapPreview {
        let proven = try connection.identity(behind: swap.proof, of: caller, at: clock.now)
        let holder = try connection.holder(of: proven)
        let users = try connection.users(caller.id, holder?.canonical)
        guard let a = users[caller.id], a.deletedAt == nil else { throw Failure.invalidToken }
        if !a.anonymous { throw Failure.nonAnonymousCaller }
        if proven == nil { throw Failure.invalidSwapTicket }
        let b = try survivor(holder, holder.flatMap { users[$0.canonical] }, caller: a)
        let plan = try connection.swapPlan(
            from: a.id, into: b.id, swap.selection, keeping: caller.device, at: clock.now)
        let name = plan.name(into: b.id, swap.selection)
        try swap.precondition.check(against: name)
        try connection.checkHistory(of: a.id)
        let deletesApprovals = !swap.selection.agentApprovals || plan.counts.approvalsSkipped > 0
        if journaling != nil {
            if deletesApprovals { try connection.checkApprovals(of: a.id) }
            let moved = plan.grants.count { $0.fate == .moved }
            if try connection.grantCount(of: a.id) > moved { try connection.checkTokens(of: a.id) }
        }
        return SwapPreview(plan: name, survivor: b, counts: plan.counts, grants: plan.grants)
    }

    private func survivor(_ holder: IdentityHolder?, _ user: User?, caller a: User) throws -> User {
        guard let holder, holder.canonical != a.id else {
            throw Failure.identityDoesNotResolveToExistingAccount
        }
        guard let user else { throw TransactionMustRestart() }
        try user.checkNotDeleted()
        if user.anonymous { throw Failure.identityBelongsToAnotherAnonymousUser }
        return user
    }

    private func auditDetails(_ swap: Swap, from a: User.ID, _ counts: SwapCounts) -> AuditEntry.Details {
        [
            "from_user_id": .integer(a.rawValue),
            "rps_transferred": .integer(Int64(counts.grantsTransferred)),
            "rps_skipped_duplicate": .integer(Int64(counts.grantsSkipped)),
            "agent_approvals_transferred": .integer(Int64(counts.approvalsTransferred)),
            "agent_approvals_skipped_duplicate": .integer(Int64(counts.approvalsSkipped)),
            "notifications_transferred": .integer(Int64(counts.notificationsTransferred)),
            "device_uuid": swap.deviceUUID.map { .string($0.prefix(scalars: 100)) } ?? .null,
            "platform": swap.platform.map { .string($0.prefix(scalars: 100)) } ?? .null,
        ]
    }
}
