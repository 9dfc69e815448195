import Foundation
import TestSupport
import Testing

@testable import Accounts

/// `User.init(from:)` reads columns by position, so every statement that feeds it selects the same ones in the same order.
/// Statements of the hot path are literals; the others are composed from `User.columns`.
@Suite struct UserColumnsTests {
    @Test(arguments: ["Devices/Authenticate.swift", "WebSignIn/WebSession+Store.swift"])
    func literalsSelectTheColumnsOfAUser(file: String) throws {
        let text = try String(contentsOfFile: "\(Repository.root)/Sources/Accounts/\(file)", encoding: .utf8)
        #expect(words(text).contains(words(User.columns.description)))
    }

    private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
