import JSON
import Text

extension AccountsTransaction {
    /// The effect of every merge (accounts §3.2): everything of the absorbed account moves to the survivor. The absorbed
    /// account's row stays and leads to the survivor.
    ///
    /// Its name and addresses stay in its row; with its login_email people go on signing in, as the survivor. Devices keep
    /// their secrets and grants their tokens, so nobody is signed out, except in the server's own app and pages.
    ///
    /// - Parameters:
    ///   - absorbed: locked, live, other than the survivor.
    ///   - survivor: locked, live, identified.
    ///   - journaling: nil if no journal is kept.
    /// - Throws: `accountTooLarge`.
    func absorb(
        _ absorbed: User, into survivor: User, by evidence: MergeEvidence, actor: AuditEntry.Actor,
        _ journaling: Journaling?
    ) throws -> IdentityLink {
        let (a, b) = (absorbed.id, survivor.id)
        try connection.checkHistory(of: a)
        let told = try liveSubs(of: a)
        try lockApplications(of: a, and: told.map(\.application))
        let scanned = try journaling.map { _ in try rowsBeforeMerge(of: a) }
        let pushApprovals = try pushApprovals(naming: a, in: scanned)
        let applications = try moveApplications(from: a, to: b)
        let filled = try fill(survivor, from: absorbed, becomesDeveloper: applications > 0, actor)
        var counts = MergeCounts()
        counts.identities = try moveIdentities(from: a, to: b)
        counts.devices = try moveDevices(from: a, to: b)
        try revokePAKs(of: a, except: nil, reason: "merged", actor: actor)
        try voidTickets(of: a)
        try useUp(evidence.credential)
        try voidMergeCredentials(of: a)
        let sessions = try deleteWebSessions(of: a)
        let loginEvents = try moveLoginHistory(from: a, to: b)
        try noteLogin(.merged, of: b, on: nil)
        counts.grants = try moveGrants(from: a, to: b)
        try revokeCodes(of: sessions)
        counts.agents = try moveAgents(from: a, to: b)
        counts.agentApprovals = try moveAgentApprovals(from: a, to: b)
        // As the sessions end: a browser that the absorbed account let in would be signed in as the survivor.
        let denied = try denyPushApprovals(among: pushApprovals, of: b, by: actor, because: "merged")
        counts.notifications = try movePushApprovals(pushApprovals, from: a, to: b)
        // Before the link: nobody is both absorbed and a survivor.
        try repointAbsorbedSubs(from: a, to: b)
        try repointLinks(from: a, to: b)
        let link = try insertLink(from: a, to: b, evidence)
        if let scanned, let journaling { try keepJournal(of: link, scanned, filled, denied, journaling) }

        for (application, subs) in told {
            emit(.userMerged(a, into: b, by: .merge(link.id, link.method), knownAs: subs, at: application))
        }
        let from = JSONValue.integer(a.rawValue)
        func note(_ action: AuditEntry.Action, _ count: Int) {
            guard count > 0 else { return }
            audit(action, user: b, actor: actor, ["count": .integer(Int64(count)), "from_user_id": from])
        }
        note(.applicationUpdated, applications)
        note(.deviceReassigned, counts.devices)
        audit(
            .userMerged, user: b, actor: actor,
            [
                "from_user_id": from, "identity_link_id": .integer(link.id.rawValue),
                "merged_via": .string(link.method.rawValue), "identities": .integer(Int64(counts.identities)),
                "grants": .integer(Int64(counts.grants)), "agents": .integer(Int64(counts.agents)),
                "agent_approvals": .integer(Int64(counts.agentApprovals)),
                "notifications": .integer(Int64(counts.notifications)), "login_events": .integer(Int64(loginEvents)),
            ])
        return link
    }

    private func useUp(_ credential: MergeEvidence.Credential?) throws {
        switch credential {
        case .token(let token): try useUp(token)
        case .otp(let otp): try useUp(otp)
        case nil: break
        }
    }

    /// Writes the survivor's row: name and address if it has none, and the role that an owner of applications needs. Its
    /// version changes in any case.
    ///
    /// - Returns: what it filled in.
    private func fill(
        _ survivor: User, from absorbed: User, becomesDeveloper: Bool, _ actor: AuditEntry.Actor
    ) throws -> [JournalContents.FilledValue] {
        var filled = survivor
        if survivor.name.isBlank, !absorbed.name.isBlank { filled.name = absorbed.name }
        if survivor.contactEmail.isBlank, !absorbed.contactEmail.isBlank {
            filled.contactEmail = absorbed.contactEmail
        }
        if becomesDeveloper, survivor.role == .user {
            filled.role = .developer
            audit(
                .userRoleChanged, user: survivor.id, actor: actor,
                ["from": .string(survivor.role.rawValue), "to": .string(filled.role.rawValue)])
        }
        if filled == survivor { return [] }
        let before = try texts(of: survivor.id)
        try writeFilled(filled)
        return JournalContents.FilledValue.all(from: survivor, before, to: filled)
    }
}
