import JSON
import Time

extension AccountsTransaction {
    /// Activates a published key, and retires the active one. The key begins to sign as soon as every client can know
    /// it (accounts §2.10).
    ///
    /// - Parameters:
    ///   - keyID: nil for the only key that waits to be activated.
    ///   - isForced: whether the key may sign before every client can know it.
    /// - Returns: the activated key, and the retired one.
    /// - Throws: `RefusedOperation`.
    package func activateSigningKey(
        _ keyID: String?, isForced: Bool, serverKey: ServerKey
    ) throws -> (activated: SigningKey, retired: SigningKey?) {
        let keys = try connection.lockSigningKeys()
        var key = try keys.waiting(keyID)
        let start = try keys.start(of: key, at: now, isForced: isForced)
        // If servers could not open the key, they would stop signing.
        let published = try connection.publishedSigningKeys(at: now).first { $0.keyID == key.keyID }
        if case .failure(let problem)? = published?.open(with: serverKey) {
            throw RefusedOperation(problem.description)
        }
        var predecessor = keys.first { $0.activatedAt != nil && $0.retiredAt == nil }
        if let keyID = predecessor?.keyID { try connection.setRetirement(of: keyID, to: start) }
        predecessor?.retiredAt = start
        try connection.setActivation(of: key.keyID, to: start)
        key.activatedAt = start
        audit(
            .signingKeyActivated, user: nil, actor: .operator,
            ["kid": .string(key.keyID), "signs_from": .string(start.iso8601), "forced": .bool(isForced)])
        return (key, predecessor)
    }
}

extension [SigningKey] {
    /// The key with this id, or the only one that waits to be activated.
    fileprivate func waiting(_ keyID: String?) throws(RefusedOperation) -> SigningKey {
        guard let keyID else {
            let waiting = filter { $0.activatedAt == nil }
            guard let key = waiting.first else {
                throw RefusedOperation("no key waits to be activated; run: merganserctl signing-key generate")
            }
            guard waiting.count == 1 else {
                let names = waiting.map(\.keyID).joined(separator: ", ")
                throw RefusedOperation("several keys wait to be activated; name one of them: \(names)")
            }
            return key
        }
        guard let key = first(where: { $0.keyID.utf8.elementsEqual(keyID.utf8) }) else {
            throw RefusedOperation("there is no key \(keyID); `merganserctl signing-key list` shows them")
        }
        if let activatedAt = key.activatedAt {
            throw RefusedOperation("key \(keyID) is already activated; it signs from \(activatedAt.iso8601)")
        }
        return key
    }

    /// When a key may begin to sign.
    func start(of key: SigningKey, at now: Timestamp, isForced: Bool) throws(RefusedOperation) -> Timestamp {
        if let newest = compactMap(\.activatedAt).max(), newest > now {
            throw RefusedOperation(
                "the last activation takes effect at \(newest.iso8601); activate the next key after that")
        }
        // Before the first key signs, no client has a token to verify.
        guard hasSigned else { return Swift.max(now, key.publishedAt) }
        let known = isKnown(key)
        guard isForced || now >= known else {
            throw RefusedOperation(
                "key \(key.keyID) was published at \(key.publishedAt.iso8601), and clients may not know it before "
                    + "\(known.iso8601); activate it then, or with --force: clients may then refuse its tokens until they "
                    + "fetch the key set again")
        }
        // A server may publish the old key set until `propagation` has passed, and clients keep it for its lifetime.
        return Swift.max(now, (isForced ? key.publishedAt : known) + SigningKey.propagation)
    }
}
