/// One question of a schema, as far as its answers depend on it.
struct Question: Sendable {
    enum Kind: Sendable {
        case text
        /// With the ids of the options.
        case singleChoice(Set<String>)
        case multiChoice(Set<String>)
        case rating
        case nps
    }

    /// Of this one and of options, in bytes.
    static let longestID = 32

    /// Of `a-z 0-9 _`, like the ids of options: `String`'s equality of such text is that of its bytes.
    let id: String
    let kind: Kind
    let isRequired: Bool
}
