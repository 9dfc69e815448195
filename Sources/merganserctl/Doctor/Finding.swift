/// The result of one check of `doctor`.
struct Finding: Codable {
    enum Status: String, Codable {
        case ok, warn, fail
    }

    let check: String
    let status: Status
    let message: String
    /// How to fix the fault; nil if there is none.
    let mend: String?

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .ok, message: message, mend: nil)
    }

    static func warn(_ check: String, _ message: String, _ mend: String) -> Finding {
        Finding(check: check, status: .warn, message: message, mend: mend)
    }

    static func fail(_ check: String, _ message: String, _ mend: String) -> Finding {
        Finding(check: check, status: .fail, message: message, mend: mend)
    }

    var words: String {
        "\(status.rawValue.padded(to: 5)) \(check.padded(to: 16)) \(message)"
            + (mend.map { "\n\(String(repeating: " ", count: 23))→ \($0)" } ?? "")
    }
}
