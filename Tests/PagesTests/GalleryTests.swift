import Foundation
import Testing

@testable import Pages

/// Writes the gallery for browsers, which look at every page in it (`Tests/Browser/test_gallery.py`): a file for each page and
/// language, `pages.tsv` with their names, and what they refer to. The variable `GALLERY` says where.
@Suite struct GalleryTests {
    @Test func theGalleryIsWritten() throws {
        let given = ProcessInfo.processInfo.environment["GALLERY"]
        let folder = URL(filePath: given ?? NSTemporaryDirectory() + "gallery-\(UUID().uuidString)")
        defer { if given == nil { try? FileManager.default.removeItem(at: folder) } }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "oauth"), withIntermediateDirectories: true)
        for asset in [StyleSheet.asset, Drawing.icon] {
            try Data(asset.contents).write(to: folder.appending(path: String(asset.path.dropFirst())))
        }
        var lines: [String] = []
        for language in Language.allCases {
            let pieces = Gallery.plain + (language == .english ? Gallery.long : [])
            for (number, piece) in pieces.enumerated() {
                let name = "\(language.rawValue)-\(number).html"
                let document = piece.page.document(in: Edition(language)).markup
                try Data(document.utf8).write(to: folder.appending(path: name))
                lines.append("\(name)\t\(language.rawValue)\t\(piece.description)\n")
            }
        }
        try Data(lines.joined().utf8).write(to: folder.appending(path: "pages.tsv"))
        let written = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(Set(written).isSuperset(of: lines.map { String($0.prefix { $0 != "\t" }) }))
    }
}
