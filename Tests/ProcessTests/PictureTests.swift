import Foundation
import TestSupport
import Testing

/// The screenshots that README.md shows. `make screenshots` makes them again.
@Suite struct PictureTests {
    private static let folder = "docs/images/"

    @Test func theReadMeShowsThePicturesThatAreThere() throws {
        let text = try String(contentsOfFile: Repository.root + "/README.md", encoding: .utf8)
        let shown = text.matches(of: /!\[([^\]]+)\]\((docs\/images\/[^)]+)\)/)
        let there = try FileManager.default.contentsOfDirectory(atPath: "\(Repository.root)/\(Self.folder)")
        #expect(Set(shown.map { String($0.2) }) == Set(there.map { Self.folder + $0 }))
        #expect(shown.count == 2)
        for picture in shown {
            #expect(picture.1.count > 20, "a description for those who do not see it")
            let bytes = try Data(contentsOf: URL(filePath: "\(Repository.root)/\(picture.2)"))
            #expect(bytes.starts(with: [0x89] + Array("PNG\r\n\u{1A}\n".utf8)) && bytes.count < 150_000, "\(picture.2)")
        }
    }
}
