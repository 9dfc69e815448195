extension Request {
    /// The network of the client's address, for what is shared out: an IPv4 address itself; of an IPv6 address the 64 bits that
    /// one customer gets at least (RFC 6177), in each of which there is an address for everything.
    package var remoteNetwork: String {
        // nginx writes an address in the form of RFC 5952; one that ends in IPv4 notation is an IPv4 address.
        guard remoteAddress.utf8.contains(UInt8(ascii: ":")), !remoteAddress.utf8.contains(UInt8(ascii: ".")) else {
            return remoteAddress
        }
        let halves = remoteAddress.split(separator: "::", omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        let zeros = halves.count == 2 ? max(0, 8 - halves[0].count - halves[1].count) : 0
        let groups =
            (halves.first ?? []) + Array(repeating: Substring("0"), count: zeros) + (halves.count == 2 ? halves[1] : [])
        return groups.prefix(4).joined(separator: ":") + "::/64"
    }
}
