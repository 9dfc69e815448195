import MerganserAuth

/// What an app keeps, each entry under the id of its user.
struct Entries {
    var byUser: [String: [String]] = [:]

    mutating func follow(_ claims: MerganserClaims, since previous: MerganserClaims) {
        for change in claims.changes(since: previous) {
            switch change {
            case .became(let canonical): move(from: previous.effectiveSub, to: canonical)
            case .absorbed(let subs): for sub in subs { move(from: sub, to: claims.effectiveSub) }
            case .same, .promoted, .replaced: break
            }
        }
    }

    private mutating func move(from former: String, to present: String) {
        byUser[present, default: []] += byUser.removeValue(forKey: former) ?? []
    }
}
