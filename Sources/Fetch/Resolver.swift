internal import Glibc
internal import Threads

/// The system's name resolution, with a time limit.
enum Resolver {
    /// - Returns: empty if there are no addresses, or if the resolver takes longer. Then its thread runs on until the
    ///   resolver returns.
    static func addresses(of host: String, within time: Duration) -> [IPAddress] {
        let found = Monitor<[IPAddress]?>(nil)
        Thread {
            let addresses = addresses(of: host)
            found.change { $0 = addresses }
        }.detach()
        return found.wait(atMost: time) { $0 } ?? []
    }

    static func addresses(of host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.compactMap { entry in
            entry?.pointee.ai_addr.flatMap { IPAddress($0) }
        }
    }
}
