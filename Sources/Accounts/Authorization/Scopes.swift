import ErrorCodes
import Text

/// OAuth scopes in the order of the request, without repetitions (RFC 6749 §3.3). Names are compared byte for byte.
package struct Scopes: Sendable, Equatable {
    package let names: [String]
    /// The names, separated by single spaces.
    package let text: String

    /// - Parameter text: separated by spaces.
    package init(_ text: String) {
        names = text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }.eachOnce
        // If the text has more spaces or repetitions, it is longer than this sum.
        let isInForm = text.utf8.count == names.reduce(names.count - 1) { $0 + $1.utf8.count }
        self.text = isInForm ? text : names.joined(separator: " ")
    }

    package init(_ names: [String]) {
        self.names = names.eachOnce
        text = self.names.joined(separator: " ")
    }

    /// The most names that a request or an application may have. With 100 of the longest names an access token has 14
    /// KB, which fits into nginx's header buffers.
    package static let countLimit = 100
    /// The most bytes in a name.
    package static let nameLimit = 100

    /// The scopes that a client requests.
    ///
    /// - Throws: `invalid_scope` above the limits, whatever the application's policy is.
    package init(requested text: String) throws(OAuthError) {
        let tooMuch = OAuthError(
            .invalidScope, "scope has at most \(Self.countLimit) names of at most \(Self.nameLimit) characters")
        if text.utf8.count > Self.countLimit * (Self.nameLimit + 1) { throw tooMuch }
        self.init(text)
        if names.count > Self.countLimit || names.contains(where: { $0.utf8.count > Self.nameLimit }) { throw tooMuch }
    }

    package var isEmpty: Bool { names.isEmpty }

    /// `profile` is another name of `profile:basic`.
    package func contains(_ name: String) -> Bool {
        let canonical = Self.canonical(name)
        return names.contains { Self.canonical($0).utf8.elementsEqual(canonical.utf8) }
    }

    /// The scopes that the other does not have.
    package func missing(from other: Scopes) -> Scopes {
        let known = Set(other.names.map { Array(Self.canonical($0).utf8) })
        return Scopes(names.filter { !known.contains(Array(Self.canonical($0).utf8)) })
    }

    package func isCovered(by other: Scopes) -> Bool { missing(from: other).isEmpty }

    /// These scopes, then those that only the other has.
    package func union(_ other: Scopes) -> Scopes { Scopes(names + other.missing(from: self).names) }

    /// The scopes of the form `<namespace>:<key>`, each of which is one custom claim (accounts §2.8).
    package var custom: [(scope: String, namespace: String, key: String)] {
        names.compactMap { name in
            let parts = name.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts.contains(where: \.isEmpty), !Self.standard.contains(name) else { return nil }
            return (name, String(Substring(parts[0])), String(Substring(parts[1])))
        }
    }

    /// For people: the first few names, shortened, and the number of the others.
    package var summary: String {
        let shown = names.prefix(10).map { $0.prefix(scalars: 60) }.joined(separator: " ")
        return names.count > 10 ? "\(shown) and \(names.count - 10) more" : shown
    }

    /// Scopes that the specification defines (accounts §2.8).
    package static let standard = [
        "openid", "profile", "profile:basic", "email", "phone", "address", "identity:level", "offline_access",
    ]

    private static func canonical(_ name: String) -> String { name == "profile" ? "profile:basic" : name }
}

extension [String] {
    fileprivate var eachOnce: [String] {
        guard hasRepetitions else { return self }
        var seen: Set<[UInt8]> = []
        return filter { seen.insert([UInt8]($0.utf8)).inserted }
    }

    /// For so few scopes, comparing each pair is faster than a set.
    private var hasRepetitions: Bool {
        count > 32 || indices.contains { index in self[..<index].contains(self[index]) }
    }
}
