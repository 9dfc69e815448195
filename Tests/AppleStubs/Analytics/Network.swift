// Declarations of Apple's Network that MerganserAnalytics uses, from its documentation.
public import Dispatch

public struct NWInterface: Sendable {
    public enum InterfaceType: Sendable { case other, wifi, cellular, wiredEthernet, loopback }
}

public struct NWPath: Sendable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }

    public var status: Status { fatalError() }
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { fatalError() }
}

public final class NWPathMonitor: @unchecked Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { fatalError() }
        set {}
    }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
