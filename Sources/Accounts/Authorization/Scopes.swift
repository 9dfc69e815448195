import ErrorCodes
import Text

/// OAuth scopes in the order of the request, without repetitions (RFC 6749 §3.3). Names are compared byte for byte.
package struct Scopes: Sendable, Equatable {
    /// The names, separated by single spaces.
    package let text: String

    /// - Parameter text: separated by spaces.
    package init(_ text: String) { self = Self.isInForm(text) ? Self(text: text) : Self(Self.names(in: text)) }

    /// - Parameter names: not empty, and without spaces.
    package init(_ names: [String]) {
        var seen: Set<[UInt8]> = []
        text = names.filter { seen.insert([UInt8]($0.utf8)).inserted }.joined(separator: " ")
    }

    private init(text: String) { self.text = text }

    package var names: [String] { Self.names(in: text) }

    private static func names(in text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
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

    package var isEmpty: Bool { text.isEmpty }

    /// `profile` is another name of `profile:basic`.
    package func contains(_ name: String) -> Bool {
        let (names, canonical) = (text.utf8Span.span, Self.canonical(name))
        return Self.isThere(canonical.utf8Span.span, in: names)
            || canonical == Self.canonical("profile") && Self.isThere("profile".utf8Span.span, in: names)
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
        // Looked for first, because nearly all names are standard.
        guard hasCustom else { return [] }
        return text.utf8.split(separator: UInt8(ascii: " ")).compactMap { name in
            if Self.standard.contains(where: { $0.utf8.elementsEqual(name) }) { return nil }
            let parts = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts.contains(where: \.isEmpty) else { return nil }
            return (String(Substring(name)), String(Substring(parts[0])), String(Substring(parts[1])))
        }
    }

    /// Whether a name with a colon is not standard. Nothing is allocated for that.
    private var hasCustom: Bool {
        let bytes = text.utf8Span.span
        var start = 0
        while start < bytes.count {
            let end = Self.end(of: start, in: bytes)
            let name = bytes.extracting(start..<end)
            if name.firstIndex(of: UInt8(ascii: ":")) < name.count,
                !Self.standard.contains(where: { $0.utf8Span.span.isEqual(to: name) })
            {
                return true
            }
            start = end + 1
        }
        return false
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

/// Every request reads scopes, nearly all of which are in form, so nothing is allocated for that.
extension Scopes {
    /// Whether each name is there once, and single spaces separate them. False also for many names, which a set compares faster.
    private static func isInForm(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        var ends = InlineArray<32, Int>(repeating: 0)
        var (start, count) = (0, 0)
        while start <= bytes.count, !bytes.isEmpty {
            let end = end(of: start, in: bytes)
            if end == start || count == ends.count { return false }
            let name = bytes.extracting(start..<end)
            var other = 0
            for index in 0..<count {
                // Most names differ in length already.
                if ends[index] - other == name.count, bytes.extracting(other..<ends[index]).isEqual(to: name) {
                    return false
                }
                other = ends[index] + 1
            }
            ends[count] = end
            count += 1
            start = end + 1
        }
        return true
    }

    /// - Parameter names: in form; a space may follow.
    private static func isThere(_ name: Span<UInt8>, in names: Span<UInt8>) -> Bool {
        var start = 0
        while start < names.count {
            let end = end(of: start, in: names)
            if names.extracting(start..<end).isEqual(to: name) { return true }
            start = end + 1
        }
        return false
    }

    private static func end(of start: Int, in bytes: Span<UInt8>) -> Int {
        bytes.firstIndex(of: UInt8(ascii: " "), from: start)
    }
}
