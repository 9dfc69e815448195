import Fetch
import Testing

@Suite struct AddressBlockTests {
    private func contains(_ block: String, _ address: String) throws -> Bool {
        try #require(AddressBlock(written: block)).contains(try #require(IPAddress(address)).unmapped)
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("192.0.2.0/24", "192.0.2.255", true),
        ("192.0.2.0/24", "192.0.3.0", false), ("192.0.2.77/24", "192.0.2.1", true), ("192.0.2.6/31", "192.0.2.7", true),
        ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "::1", false), ("::/0", "2001:db8::1", true),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("::ffff:192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "::ffff:192.0.2.7", true),
    ])
    func itHasTheAddressesThatBeginAlike(block: String, address: String, isInside: Bool) throws {
        #expect(try contains(block, address) == isInside)
    }

    /// inet_aton(3) reads some of these as addresses, and others than people mean.
    @Test(arguments: [
        "", "/", "192.0.2.0/", "/24", "192.0.2.0/33", "::/129", "192.0.2.0/-1", "192.0.2.0/+8", "192.0.2.0/8/8", "1",
        "10.1",
        "010.0.0.1", "0x7f.0.0.1", "192.0.2.256", "192.0.2.7 ", "example.com", "192.0.2.0/24a", "192.0.2.0/٢", "[::1]",
        "127.0.0.1/08", "127.0.0.1/00", "::1/0128", "192.0.2.0/-0",
    ])
    func otherTextsAreNone(text: String) {
        #expect(AddressBlock(written: text) == nil)
    }
}
