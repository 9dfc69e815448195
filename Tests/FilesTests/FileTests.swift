import Files
import Foundation
import TestSupport
import Testing

@Suite struct FileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func aNewFileStaysOnlyUnderTheNameItIsGiven() throws {
        try writeTwoParts(keptAs: directory.file("kept"))
        #expect(try Folder.names(in: directory.path) == ["kept"])
        #expect(directory.text("kept") == "one two")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("kept"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        try writeTwoParts(keptAs: nil)
        #expect(try Folder.names(in: directory.path) == ["kept"])
    }

    private func writeTwoParts(keptAs path: String?) throws {
        let file = try NewFile(directory.file("new"))
        try file.append(Array("one".utf8))
        try file.append([])
        try file.append(Array(" two".utf8))
        try file.synchronize()
        if let path {
            try file.rename(to: path)
            try file.rename(to: path)
            try Folder.synchronize(directory.path)
        }
    }

    @Test func aNewFileTakesNobodysName() throws {
        try directory.write("there", to: "new")
        #expect(throws: FileError(call: "open", path: directory.file("new"), code: EEXIST)) {
            try NewFile(directory.file("new"))
        }
        #expect(directory.text("new") == "there")
    }

    @Test func aStoredFileIsReadInPartsEvenWhenItsNameIsGone() throws {
        let path = try directory.write(String(repeating: "x", count: 150_000), to: "stored")
        let file = try #require(try StoredFile(path))
        #expect(file.length == 150_000)
        #expect(try Folder.remove(file: path))
        var sizes: [Int] = []
        while let part = try? file.read(atMost: 65_536), !part.isEmpty { sizes.append(part.count) }
        #expect(sizes == [65_536, 65_536, 18_928])
        #expect(try StoredFile(path) == nil)
        #expect(try !Folder.remove(file: path))
        #expect(try Folder.modificationTime(of: path) == nil)
    }

    @Test func aLinkIsNotFollowed() throws {
        try directory.link("link", to: "/etc/passwd")
        #expect(throws: FileError(call: "open", path: directory.file("link"), code: ELOOP)) {
            try StoredFile(directory.file("link"))
        }
    }

    @Test func aFolderIsMadeOnce() throws {
        try Folder.make(directory.file("folder"))
        try Folder.make(directory.file("folder"))
        #expect(try Folder.names(in: directory.file("folder")) == [])
        #expect(throws: FileError(call: "mkdir", path: directory.file("no/folder"), code: ENOENT)) {
            try Folder.make(directory.file("no/folder"))
        }
    }

    @Test func aGroupHasANameOrANumber() {
        #expect(Group("root")?.number == 0 && Group("0")?.number == 0)
        #expect(Group("no-such-group") == nil && Group("-1") == nil)
    }

    @Test func anErrorTellsCallPathAndReason() {
        let error = FileError(call: "write", path: "/data/x", code: ENOSPC)
        #expect("\(error)" == "write /data/x: No space left on device")
    }
}
