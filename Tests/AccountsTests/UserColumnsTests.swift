import Foundation
import TestSupport
import Testing

@testable import Accounts

/// `User.init(from:)` and `UsualSubject.init(from:)` read columns by position, so every statement that feeds them selects the
/// same ones in the same order. Statements of the hot path are literals; the others are composed.
@Suite struct UserColumnsTests {
    @Test(arguments: ["Devices/Authenticate.swift", "WebSignIn/WebSession+Store.swift"])
    func literalsSelectTheColumnsOfAUser(file: String) throws {
        let text = try String(contentsOfFile: "\(Repository.root)/Sources/Accounts/\(file)", encoding: .utf8)
        #expect(words(text).contains(words(User.columns.description)))
    }

    @Test func literalsSelectTheColumnsOfASubject() throws {
        let path = "\(Repository.root)/Sources/Accounts/Tokens/AccessToken.swift"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let columns = "SELECT \(words(Subject.ownColumns.description)), \(UsualSubject.marks)"
        #expect(words(text).contains(columns))
    }

    private func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
