package import MariaDB

/// Why an operator merges two accounts (accounts §3.2).
package enum OperatorEvidence: Sendable {
    /// Both were used on this device, which belongs to one of them.
    case device(DeviceUUID)
    /// An address that providers verified for both of them. What people only typed proves nothing.
    case email(String)
}

/// The result of an operator's merge.
package struct OperatorMerge: Sendable {
    package var link: IdentityLink
    /// Whether the same merge was made before, so that nothing was changed now.
    package var isRepeated: Bool
}

extension Accounts {
    /// Absorbs an account for an operator. If the same merge was made before, nothing changes.
    ///
    /// - Throws: `RefusedOperation` when one of them is not live, the survivor is anonymous, or the evidence does not hold;
    ///   `planChanged`.
    package func mergeUsers(
        _ absorbed: User.ID, into survivor: User.ID, for evidence: OperatorEvidence, _ precondition: Precondition,
        in transaction: AccountsTransaction
    ) throws -> OperatorMerge {
        let connection = transaction.connection
        let users = try transaction.lockUsers(absorbed, survivor)
        let record = MergeEvidence(evidence, absorbed)
        if let link = try connection.link(to: survivor, from: absorbed, record) {
            return OperatorMerge(link: link, isRepeated: true)
        }
        let (target, user) = try connection.check(absorbed, into: survivor, users)
        try connection.check(evidence, absorbed, survivor)
        try precondition.check(against: connection.mergePlan(of: absorbed).name(into: survivor))
        let link = try transaction.absorb(target, into: user, by: record, actor: .operator, journaling)
        return OperatorMerge(link: link, isRepeated: false)
    }
}

extension Connection {
    /// What an operator's merge would move now: the same checks and the plan, without a lock or a write.
    ///
    /// - Throws: as `mergeUsers`.
    package func previewMergeUsers(
        _ absorbed: User.ID, into survivor: User.ID, for evidence: OperatorEvidence, _ precondition: Precondition
    ) throws -> MergePreview {
        _ = try check(absorbed, into: survivor, users(absorbed, survivor))
        try check(evidence, absorbed, survivor)
        return try previewMerge(of: absorbed, into: survivor, precondition)
    }

    fileprivate func check(
        _ absorbed: User.ID, into survivor: User.ID, _ users: [User.ID: User]
    ) throws -> (absorbed: User, survivor: User) {
        if absorbed == survivor { throw RefusedOperation("an account cannot be merged into itself") }
        let linked = try absorbedUsers(among: absorbed, survivor)
        func live(_ id: User.ID) throws -> User {
            guard let user = users[id] else { throw RefusedOperation("there is no user \(id.rawValue)") }
            if user.deletedAt != nil { throw RefusedOperation("user \(id.rawValue) is deleted") }
            if linked.contains(id) {
                throw RefusedOperation("user \(id.rawValue) was merged already; `user show` says into whom")
            }
            return user
        }
        let (target, user) = (try live(absorbed), try live(survivor))
        if user.anonymous {
            throw RefusedOperation(
                "user \(survivor.rawValue) is anonymous and cannot absorb others; merge the other way round")
        }
        return (target, user)
    }

    /// A merge tells relying parties at once, and can be taken back only for a while, so a mistyped device, address or id must
    /// not make one.
    fileprivate func check(_ evidence: OperatorEvidence, _ absorbed: User.ID, _ survivor: User.ID) throws {
        switch evidence {
        case .device(let device):
            let owner = try first("SELECT user_id FROM devices WHERE device_uuid = ?", device.text) { row in
                try row.read(User.ID.self)
            }
            guard owner == absorbed || owner == survivor else {
                throw RefusedOperation("the device \(device.text) belongs to neither account")
            }
        case .email(let address):
            let folded = FoldedAddress(address)
            for user in [absorbed, survivor] where !(try verifiedAddresses(of: user).contains(folded)) {
                throw RefusedOperation("no provider verified the address \(address) for user \(user.rawValue)")
            }
        }
    }

    private func verifiedAddresses(of user: User.ID) throws -> Set<FoldedAddress> {
        Set(
            try all(
                """
                SELECT login_email FROM users WHERE id = ?
                UNION ALL SELECT email FROM identities WHERE user_id = ? AND email_verified
                """, user, user
            ) { row in EmailAddress.present(try row.read()).map(FoldedAddress.init(_:)) }.compactMap { $0 })
    }

    /// The link that this merge made before; nil if it was not made.
    fileprivate func link(
        to survivor: User.ID, from absorbed: User.ID, _ evidence: MergeEvidence
    ) throws -> IdentityLink? {
        try first(
            """
            SELECT id FROM identity_links WHERE idempotency_key = ? AND primary_user_id = ? AND linked_user_id = ?
            """, evidence.idempotencyKey, survivor, absorbed
        ) { row in
            IdentityLink(id: try row.read(), primary: survivor, linked: absorbed, method: evidence.method)
        }
    }
}

extension MergeEvidence {
    /// Two spellings of a UUID are one device, and two of an address one address.
    fileprivate init(_ evidence: OperatorEvidence, _ absorbed: User.ID) {
        switch evidence {
        case .device(let device):
            self.init(method: .deviceLink, idempotencyKey: "t1:\(device.text.lowercased()):\(absorbed.rawValue)")
        case .email(let address):
            let folded = String(decoding: FoldedAddress(address).bytes, as: UTF8.self)
            self.init(method: .emailMatch, idempotencyKey: "t2:\(folded):\(absorbed.rawValue)")
        }
    }
}
