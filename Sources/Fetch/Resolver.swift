internal import Glibc
internal import Threads

/// The system's name resolution, with a limit to how long it is waited for.
enum Resolver {
    /// - Returns: none when there are none, or the resolver takes longer; its thread ends when it is done.
    static func addresses(of host: String, within time: Duration) -> [IPAddress] {
        let found = Monitor<[IPAddress]?>(nil)
        Thread {
            let addresses = addresses(of: host)
            found.change { $0 = addresses }
        }.detach()
        return found.wait(atMost: time) { $0 } ?? []
    }

    private static func addresses(of host: String) -> [IPAddress] {
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
