// This target owns identity tokens of Apple and Google: how they are checked (accounts §1.5), and how the key sets for
// that are fetched, kept and refreshed. It does not own accounts, rules for e-mail addresses or sessions.

/// An identity provider.
package enum Provider: String, Sendable, CaseIterable {
    case apple
    case google
}
