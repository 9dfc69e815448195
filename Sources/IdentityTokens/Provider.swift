// This target owns identity tokens of Apple and Google: which are believed (accounts §1.5), and the key sets to check them
// with, fetched, kept and renewed. It does not own what becomes of the person: accounts, e-mail rules and sessions.

/// Who vouches for a person.
package enum Provider: String, Sendable, CaseIterable {
    case apple
    case google
}
