import MerganserAuth

/// What the guestbook's own server would keep: entries, each under the id of who wrote it.
struct Guestbook {
    private(set) var entries: [String: [String]] = [:]

    mutating func write(_ text: String, by claims: MerganserClaims) {
        entries[claims.effectiveSub, default: []].append(text)
    }

    /// Brings entries to where claims say that they belong now.
    ///
    /// - Parameter previous: what was known of the user before.
    mutating func follow(_ claims: MerganserClaims, since previous: MerganserClaims) {
        for change in claims.changes(since: previous) {
            switch change {
            case .became(let canonical): move(from: previous.effectiveSub, to: canonical)
            case .absorbed(let subs): for sub in subs { move(from: sub, to: claims.effectiveSub) }
            // A guest's entries are under the id that the guest keeps; somebody else's are not touched.
            case .same, .promoted, .replaced: break
            }
        }
    }

    private mutating func move(from former: String, to present: String) {
        guard let moved = entries.removeValue(forKey: former) else { return }
        entries[present, default: []] += moved
    }
}
