import JSON

/// How an account that a relying party knew went into another, as `merged_via` names it (accounts §3.2, §3.3).
enum MergeKind: Equatable {
    case anonymousSwap
    case merge(IdentityLink.ID, MergeMethod)

    fileprivate var name: String {
        switch self {
        case .anonymousSwap: "anonymous_swap"
        case .merge(_, let method): method.rawValue
        }
    }

    /// Nil for a swap, which leaves no link.
    fileprivate var link: IdentityLink.ID? {
        switch self {
        case .anonymousSwap: nil
        case .merge(let link, _): link
        }
    }
}

extension Event {
    /// `user.merged`: the account that the relying party knew was merged into another (accounts §3.3).
    ///
    /// - Parameter subs: those by which it knew the absorbed account, the newest last.
    static func userMerged(
        _ absorbed: User.ID, into survivor: User.ID, by kind: MergeKind, knownAs subs: [String],
        at application: Application.ID
    ) -> Event {
        Event(
            application: application, kind: .userMerged,
            data: [
                "survivor_canonical_sub": .string(String(survivor.rawValue)),
                "merged_canonical_sub": .string(String(absorbed.rawValue)),
                "linked_sub": subs.last.map(JSONValue.string) ?? .null,
                "linked_subs": .array(subs.map(JSONValue.string)),
                "merged_via": .string(kind.name),
                "identity_link_id": kind.link.map { .integer($0.rawValue) } ?? .null,
            ], absorbedSubs: kind == .anonymousSwap ? subs : [], identityLink: kind.link)
    }
}

extension Event {
    /// `user.unlinked`: a merge or swap was undone (accounts §3.3).
    ///
    /// - Parameters:
    ///   - subs: of the account that the survivor had absorbed, by which the relying party knows it; none if it knows only the
    ///     survivor.
    ///   - link: nil for a swap.
    static func userUnlinked(
        _ unlinked: User.ID, from survivor: User.ID, _ link: IdentityLink.ID?, knownAs subs: [String],
        at application: Application.ID
    ) -> Event {
        Event(
            application: application, kind: .userUnlinked,
            data: [
                "survivor_canonical_sub": .string(String(survivor.rawValue)),
                "unlinked_canonical_sub": .string(String(unlinked.rawValue)),
                "linked_subs": .array(subs.map(JSONValue.string)),
                "identity_link_id": link.map { .integer($0.rawValue) } ?? .null,
            ])
    }
}
