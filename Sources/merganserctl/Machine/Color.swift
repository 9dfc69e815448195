/// One of the two instances, of which one serves and the other one replaces it.
enum Color: String, CaseIterable, Encodable {
    case blue, green

    var other: Color { self == .blue ? .green : .blue }
    var unit: String { "merganser@\(rawValue).service" }

    /// What systemd says of it: `active`, `activating`, `deactivating`, `failed` or `inactive`.
    var state: String { (try? Program.output("systemctl", "is-active", unit)) ?? "unknown" }
    var isReady: Bool { state == "active" }
    /// Whether it serves, or systemd is about to start it, perhaps again.
    var isRunning: Bool { ["active", "activating", "reloading"].contains(state) }
}
