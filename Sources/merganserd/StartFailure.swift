import Glibc

/// Why an instance does not start, in words for the operator.
struct StartFailure: Error, CustomStringConvertible {
    /// From sysexits.h.
    let status: Int32
    let description: String

    static func cannotMake(_ description: String) -> StartFailure {
        StartFailure(status: EX_CANTCREAT, description: description)
    }

    static func unusable(_ description: String) -> StartFailure {
        StartFailure(status: EX_CONFIG, description: description)
    }
}
