/// What an app must do with its own data when claims change.
public enum ClaimsChange: Hashable, Sendable {
    /// Nothing.
    case same
    /// The user's account was merged or swapped into another: move what is stored under the former id to `canonical`.
    case became(canonical: String)
    /// These ids now belong to the user: move what is stored under them to the user's `effectiveSub`.
    case absorbed([String])
    /// The guest has an account now: upload what was kept on the device for that moment.
    case promoted
    /// Somebody else has signed in. Nothing of the former user's is theirs.
    case replaced(by: String)
}

extension MerganserClaims {
    /// What to do, in this order, when claims come in place of those that the app saw last.
    ///
    /// - Parameter previous: nil if the app has not seen any: then ids that the account absorbed earlier are reported,
    ///   since data may be stored under them.
    /// - Returns: at least one change; `same` only alone.
    public func changes(since previous: MerganserClaims?) -> [ClaimsChange] {
        var changes: [ClaimsChange] = []
        if let previous {
            let isSamePerson =
                sub == previous.sub || effectiveSub == previous.effectiveSub
                || linkedSubs.contains(previous.effectiveSub)
            guard isSamePerson else { return [.replaced(by: effectiveSub)] }
            if effectiveSub != previous.effectiveSub { changes.append(.became(canonical: effectiveSub)) }
        }
        // What `became` moves is not moved twice.
        let known = Set((previous?.linkedSubs ?? []) + (previous.map { [$0.effectiveSub] } ?? []))
        let absorbed = linkedSubs.filter { !known.contains($0) && $0 != effectiveSub }
        if !absorbed.isEmpty { changes.append(.absorbed(absorbed)) }
        if previous?.anonymous == true, !anonymous { changes.append(.promoted) }
        return changes.isEmpty ? [.same] : changes
    }
}
