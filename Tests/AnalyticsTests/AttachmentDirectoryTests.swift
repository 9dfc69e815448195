import Analytics
import Files
import Foundation
import OpenSSL
import TestSupport
import Testing
import Text
import Time

@Suite struct AttachmentDirectoryTests {
    private let directory: TemporaryDirectory
    private let store: AttachmentDirectory

    init() throws {
        directory = try TemporaryDirectory()
        store = AttachmentDirectory(directory.file("store"))
        try store.prepare()
    }

    private func put(_ parts: [String], atMost limit: Int64 = 100) throws -> any StagedContent {
        var rest = parts[...]
        return try store.put(atMost: limit) { rest.popFirst().map { Array($0.utf8) } ?? [] }
    }

    @Test func aStreamIsHashedAndKeptUnderItsDigest() throws {
        let content = try put(["one ", "two"])
        let digest = sha256("one two".utf8).hexadecimal
        #expect(content.size == 7 && content.digest.rawValue == digest)
        #expect(try store.open(content.digest) == nil)
        try content.keep()
        try content.keep()
        let file = try #require(try store.open(content.digest))
        #expect(try file.length == 7 && file.read(atMost: 100) == Array("one two".utf8))
        #expect(directory.text("store/\(digest.prefix(2))/\(digest)") == "one two")
    }

    /// A file must not reveal when, or whether, somebody else sent the same content.
    @Test func whatIsKeptHasNoTime() throws {
        let content = try put(["secret"])
        try content.keep()
        let path = directory.file("store/\(content.digest.rawValue.prefix(2))/\(content.digest.rawValue)")
        #expect(try Folder.modificationTime(of: path) == Timestamp(seconds: 0))
    }

    @Test func whatIsNotKeptLeavesNothing() throws {
        struct Gone: Error {}
        var parts = 0
        #expect(throws: Gone.self) {
            try store.put(atMost: 100) {
                parts += 1
                if parts > 2 { throw Gone() }
                return [1]
            }
        }
        _ = try put(["dropped"])
        #expect(try Folder.names(in: directory.file("store/new")) == [])
    }

    @Test func nothingIsReadBeyondTheLimit() throws {
        var parts = 0
        let content = try store.put(atMost: 4) {
            parts += 1
            return [1, 2, 3]
        }
        #expect(parts == 2 && content.size == 6)
    }

    @Test func equalContentsAreOneFile() throws {
        for _ in 0..<2 { try put(["same"]).keep() }
        try put(["other"]).keep()
        var digests: [ContentDigest] = []
        try store.list { digests += $0 }
        #expect(Set(digests.map(\.rawValue)) == [sha256("same".utf8).hexadecimal, sha256("other".utf8).hexadecimal])
        #expect(digests.count == 2)
        for digest in digests {
            #expect(try store.remove(digest))
            #expect(try !store.remove(digest))
        }
    }

    @Test func filesOfOthersAreLeftAlone() throws {
        try directory.write("x", to: "store/ab/README")
        try store.list { #expect($0.isEmpty) }
    }

    @Test func onlyStreamsThatEndedLongAgoAreAbandoned() throws {
        try directory.write("x", to: "store/new/0123")
        let now = Clock.system.now
        #expect(try store.abandoned(before: now - .seconds(60)).isEmpty)
        let abandoned = try store.abandoned(before: now + .seconds(60))
        #expect(abandoned.count == 1)
        #expect(try abandoned[0].remove())
        #expect(try !abandoned[0].remove())
    }

    /// A member of the group who knows a digest may read its file. The group may not list files, nor read files that
    /// are still being written.
    @Test func whatIsKeptMayBeReadByAGroup() throws {
        // Root may give a file to any group, other users only to one of theirs.
        let number = geteuid() == 0 ? 12_345 : getegid()
        let shared = AttachmentDirectory(directory.file("shared"), readers: Group("\(number)"))
        for _ in 0..<2 { try shared.prepare() }
        let content = try shared.put(atMost: 10) { [] }
        try content.keep()
        let digest = content.digest.rawValue
        func permissions(_ name: String) throws -> String {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("shared/\(name)"))
            let group = attributes[.groupOwnerAccountID] as? Int == Int(number) ? "shared" : "own"
            return String(attributes[.posixPermissions] as? Int ?? 0, radix: 8) + " " + group
        }
        for folder in ["", "00", "ff"] { #expect(try permissions(folder) == "710 shared") }
        #expect(try permissions("\(digest.prefix(2))/\(digest)") == "640 shared")
        #expect(try permissions("new").hasPrefix("700 "))
    }

    @Test func aFolderThatCannotBeMadeIsAnError() {
        #expect(throws: FileError(call: "mkdir", path: "/proc/attachments", code: ENOENT)) {
            try AttachmentDirectory("/proc/attachments").prepare()
        }
    }
}
