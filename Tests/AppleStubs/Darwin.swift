// Declarations of Darwin that the client libraries use, from its headers; what Linux has as well is Glibc's.
@_exported import Glibc

public struct extern_proc {
    public struct __Unnamed_union_p_un {
        public var __p_starttime: timeval { fatalError() }
    }

    public var p_un: __Unnamed_union_p_un { fatalError() }
}

public struct kinfo_proc {
    public init() {}
    public var kp_proc: extern_proc { fatalError() }
}

public var CTL_KERN: Int32 { 1 }
public var KERN_PROC: Int32 { 14 }
public var KERN_PROC_PID: Int32 { 1 }

public func sysctl(
    _ name: UnsafeMutablePointer<Int32>?, _ count: UInt32, _ old: UnsafeMutableRawPointer?,
    _ oldSize: UnsafeMutablePointer<Int>?, _ new: UnsafeMutableRawPointer?, _ newSize: Int
) -> Int32 { -1 }
