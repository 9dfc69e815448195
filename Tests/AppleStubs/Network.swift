// Declarations of Apple's Network that the client libraries use, from its documentation.
public import Dispatch

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public var status: Status { fatalError() }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { fatalError() }
}

/// Never says anything.
public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
