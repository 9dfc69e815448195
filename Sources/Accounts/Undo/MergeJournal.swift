package import Time

/// What a merge or swap did, kept for a while so that an operator can take it back (accounts Stage 6). Here without its
/// contents, which are sealed.
package struct MergeJournal: Equatable, Sendable {
    package typealias ID = Identifier<MergeJournal>

    package var id: ID
    package var survivor: User.ID
    /// Absorbed by a merge, or deleted by a swap.
    package var absorbed: User.ID
    /// Nil: a swap's.
    package var link: IdentityLink.ID?
    /// A `MergeMethod`, or `anonymous_swap`.
    package var mergedVia: String
    package var createdAt: Timestamp
    /// When it can no longer be taken back.
    package var expiresAt: Timestamp
    package var undoneAt: Timestamp?
}

/// How operators name a merge or a swap.
package enum MergeID: Hashable, Sendable {
    /// By its link.
    case merge(IdentityLink.ID)
    /// By its journal, since a swap leaves no link.
    case swap(MergeJournal.ID)

    /// A number, which has an `s` before it for a swap. Only one text stands for a merge, so `07` is nil.
    package init?(text: String) {
        let isSwap = text.utf8.first == UInt8(ascii: "s")
        guard let number = Int64(text.dropFirst(isSwap ? 1 : 0)), number > 0 else { return nil }
        self = isSwap ? .swap(MergeJournal.ID(rawValue: number)) : .merge(IdentityLink.ID(rawValue: number))
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    package var text: String {
        switch self {
        case .merge(let link): String(link.rawValue)
        case .swap(let journal): "s\(journal.rawValue)"
        }
    }
}

extension MergeJournal {
    /// The identity that a part of a journal is sealed for.
    static func partRow(_ journal: ID, kind: String, number: Int) -> [UInt8] {
        Array("merge_journal_parts\n\(journal.rawValue)\n\(kind)\n\(number)".utf8)
    }

    package var merge: MergeID { link.map(MergeID.merge) ?? .swap(id) }
}
