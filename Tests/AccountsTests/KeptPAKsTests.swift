import Testing

@testable import Accounts

@Suite struct KeptPAKsTests {
    @Test(arguments: [[], [1], [7, 12], [1, 2, 3, 4, 5], [999_999_999_999_999_998]])
    func anotherIsAddedToTheText(_ numbers: [Int64]) {
        let ids = numbers.map(PAK.ID.init)
        let another = PAK.ID(rawValue: (numbers.last ?? 0) + 1)
        #expect([PAK.ID](kept: ids[...].textBeforeAnother + "\(another.rawValue)") == ids + [another])
    }

    /// The PAKs are read instead.
    @Test(arguments: ["", ",", "1,", "1,,2", ",1", "2,1", "1,1", "1;2", "-1", "1 ", "a", "1000000000000000000"])
    func anotherFormIsNotRead(_ text: String) { #expect([PAK.ID](kept: text) == nil) }
}
