import MariaDB
import Text

/// Where an app runs, and the environments its events may come from (analytics §8.2).
package enum AppPlatform: String, Sendable, CaseIterable, Bindable, Readable {
    case apple, android, web, backend

    package var environments: [String] {
        switch self {
        case .apple: ["ios", "ipados", "macos", "watchos"]
        case .android: ["android"]
        case .web: ["web"]
        case .backend: ["backend"]
        }
    }

    /// Why an environment does not fit this platform; nil if it does.
    package func objection(to environment: String) -> String? {
        if environments.contains(where: { $0.hasSameBytes(as: environment) }) { return nil }
        let allowed = environments.joined(separator: ", ")
        return "environment \"\(environment)\" is not allowed for \(rawValue) apps (allowed: \(allowed))"
    }
}
