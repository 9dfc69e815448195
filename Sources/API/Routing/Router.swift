import HTTP
import Text

/// The route table. It is built once, and searched by path and method.
struct Router: Sendable {
    enum Match {
        /// - Parameter arguments: the segments that the braces matched, in order.
        case route(Int, arguments: [String])
        case otherMethods(allow: String, isCrossOrigin: Bool)
        case none
    }

    let routes: [Route]
    /// Routes whose pattern has no braces, by path.
    private let literal: [String: [Int]]
    private let longestLiteral: Int
    /// Routes whose pattern has braces, split at slashes.
    private let patterns: [(segments: [String], route: Int)]

    init(_ routes: [Route]) {
        self.routes = routes
        var literal: [String: [Int]] = [:]
        var patterns: [(segments: [String], route: Int)] = []
        for (index, route) in routes.enumerated() {
            if route.pattern.contains("{") {
                patterns.append((route.pattern.split(separator: "/").map(String.init), index))
            } else {
                literal[route.pattern, default: []].append(index)
            }
        }
        self.literal = literal
        longestLiteral = literal.keys.map(\.utf8.count).max() ?? 0
        self.patterns = patterns
    }

    /// HEAD is answered by the GET route of the same path (RFC 9110 §9.3.2).
    func match(_ method: Method, _ path: String) -> Match {
        // Paths are compared as bytes. A dictionary of strings treats canonically equivalent paths as equal, and
        // hashing a path of combining marks takes time quadratic in its length. Splitting it by characters takes
        // quadratic time, too.
        if path.utf8.count <= longestLiteral, let candidates = literal[path] {
            if path.hasSameBytes(as: routes[candidates[0]].pattern) {
                return choose(candidates.lazy.map { ($0, []) }, method)
            }
        }
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Substring.init).dropFirst()
        return choose(
            patterns.compactMap { pattern in
                arguments(of: pattern.segments, in: segments).map { (pattern.route, $0) }
            }, method)
    }

    private func choose(
        _ candidates: some Collection<(route: Int, arguments: [String])>, _ method: Method
    ) -> Match {
        if candidates.isEmpty { return .none }
        let mounted = method == .head ? .get : method
        if let match = candidates.first(where: { routes[$0.route].method == mounted }) {
            return .route(match.route, arguments: match.arguments)
        }
        let methods = candidates.flatMap {
            routes[$0.route].method == .get ? [.get, .head] : [routes[$0.route].method]
        }
        return .otherMethods(
            allow: methods.map(\.rawValue).sorted().joined(separator: ", "),
            isCrossOrigin: candidates.contains { routes[$0.route].isCrossOrigin })
    }

    private func arguments(of pattern: [String], in path: ArraySlice<Substring>) -> [String]? {
        guard pattern.count == path.count else { return nil }
        var arguments: [String] = []
        for (expected, segment) in zip(pattern, path) {
            if expected.utf8.first == UInt8(ascii: "{") {
                if segment.isEmpty { return nil }
                arguments.append(String(segment))
            } else if !expected.utf8.elementsEqual(segment.utf8) {
                return nil
            }
        }
        return arguments
    }
}
