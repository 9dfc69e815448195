import Time

/// The PAK of a request, for a rule whose own statements read its caller while they lock them.
///
/// It belongs to one request.
package final class PresentedPAK {
    let digest: [UInt8]
    private let check: (Caller, Timestamp) throws -> Void
    /// As they were when the PAK was found to be good for this request; nil until then.
    package private(set) var caller: Caller?

    /// - Parameter check: throws if the PAK has expired at that time, or is not good for this request.
    init(digest: [UInt8], check: @escaping (Caller, Timestamp) throws -> Void) {
        self.digest = digest
        self.check = check
    }

    /// Of a caller who was just read, and checked.
    package init(read caller: Caller) {
        digest = []
        check = { _, _ in }
        self.caller = caller
    }

    /// - Parameter found: was read since the request began.
    /// - Throws: what the check throws.
    func confirm(_ found: Caller, at now: Timestamp) throws {
        try check(found, now)
        caller = found
    }
}

/// The caller of a presented PAK has to be read before the request is answered: a rule did not find them, but another node of a
/// cluster may have issued the PAK, or what comes next must not happen for anybody who is not signed in.
package struct UnconfirmedCaller: Error {
    package init() {}
}
