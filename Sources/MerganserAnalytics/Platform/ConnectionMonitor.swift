#if canImport(Network)
internal import Foundation
internal import Network

/// Follows how the device is connected.
final class ConnectionMonitor: Sendable {
    private let monitor = NWPathMonitor()

    init(_ change: @escaping @Sendable (Connection) -> Void) {
        monitor.pathUpdateHandler = { path in
            guard path.status == .satisfied else { return change(.offline) }
            let kinds: [(NWInterface.InterfaceType, Connection)] = [
                (.wifi, .wifi), (.cellular, .cellular), (.wiredEthernet, .ethernet),
            ]
            change(kinds.first { path.usesInterfaceType($0.0) }?.1 ?? .unknown)
        }
        monitor.start(queue: DispatchQueue(label: "MerganserAnalytics.connection", qos: .utility))
    }

    deinit { monitor.cancel() }
}
#else
/// Nothing tells a program on Linux.
final class ConnectionMonitor: Sendable {
    init(_ change: @escaping @Sendable (Connection) -> Void) {}
}
#endif
