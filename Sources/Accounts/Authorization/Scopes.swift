/// OAuth scopes in the order they were asked for, each once (RFC 6749 §3.3).
package struct Scopes: Sendable, Equatable {
    package let names: [String]
    /// The names with a space between each two.
    package let text: String

    /// - Parameter text: space separated.
    package init(_ text: String) {
        names = text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }.eachOnce
        // Every further space or repetition makes a text longer.
        let isInForm = text.utf8.count == names.reduce(names.count - 1) { $0 + $1.utf8.count }
        self.text = isInForm ? text : names.joined(separator: " ")
    }

    package init(_ names: [String]) {
        self.names = names.eachOnce
        text = self.names.joined(separator: " ")
    }

    package var isEmpty: Bool { names.isEmpty }

    /// `profile` is another name of `profile:basic`.
    package func contains(_ name: String) -> Bool {
        names.contains { Self.canonical($0) == Self.canonical(name) }
    }

    /// Those the other has not.
    package func missing(from other: Scopes) -> Scopes { Scopes(names.filter { !other.contains($0) }) }

    package func isCovered(by other: Scopes) -> Bool { missing(from: other).isEmpty }

    /// These, then what only the other has.
    package func union(_ other: Scopes) -> Scopes { Scopes(names + other.missing(from: self).names) }

    /// The scopes of the form `<namespace>:<key>`, each of which is one custom claim (accounts §2.8).
    package var custom: [(scope: String, namespace: String, key: String)] {
        names.compactMap { name in
            let parts = name.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts.contains(where: \.isEmpty), !Self.standard.contains(name) else { return nil }
            return (name, String(Substring(parts[0])), String(Substring(parts[1])))
        }
    }

    /// Scopes with a meaning of their own (accounts §2.8).
    package static let standard = [
        "openid", "profile", "profile:basic", "email", "phone", "address", "identity:level", "offline_access",
    ]

    private static func canonical(_ name: String) -> String { name == "profile" ? "profile:basic" : name }
}

extension [String] {
    fileprivate var eachOnce: [String] {
        guard hasRepetitions else { return self }
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }

    /// Comparing all with all is faster than a set for the few scopes that there are.
    private var hasRepetitions: Bool {
        count > 32 || indices.contains { index in self[..<index].contains(self[index]) }
    }
}
