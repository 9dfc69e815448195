import Configuration
import Foundation
import MariaDB
import Testing

@Suite final class SecretTests {
    private let directory = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
    private let key = [UInt8](0..<32)

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }

    deinit { try? FileManager.default.removeItem(at: directory) }

    @Test func takesEveryEncodingOfAKey() throws {
        let hexadecimal = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let base64 = Data(key).base64EncodedString()
        let base64url = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        for text in [hexadecimal, hexadecimal.uppercased(), base64, base64.replacing("=", with: ""), base64url] {
            let configuration = try Configuration.load(environment: good.setting(["MERGANSER_SERVER_KEY": text]))
            #expect(configuration.serverKey.bytes == key, "\(text)")
        }
    }

    @Test(arguments: ["", "\n", "\r\n"]) func takesAKeyFromAFile(_ end: String) throws {
        let path = try file(Data(key).base64EncodedString() + end, mode: 0o640)
        #expect(try Configuration.load(environment: withKeyFile(path)).serverKey.bytes == key)
    }

    @Test func followsASymbolicLinkToTheFile() throws {
        let target = try file(Data(key).base64EncodedString(), mode: 0o600)
        let link = directory.appending(path: "link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        #expect(try Configuration.load(environment: withKeyFile(link)).serverKey.bytes == key)
    }

    @Test func takesThePasswordFromAFileWithItsSpaces() throws {
        let path = try file(" pass word \n", mode: 0o600)
        let environment = good.setting(["MERGANSER_DATABASE_PASSWORD_FILE": path])
        #expect(try Configuration.load(environment: environment).database.connection.password == " pass word ")
    }

    @Test(arguments: [0o604, 0o644, 0o602]) func refusesAFileEverybodyMayOpen(_ mode: Int) throws {
        let path = try file(Data(key).base64EncodedString(), mode: mode)
        #expect(
            problems(withKeyFile(path)) == [
                "MERGANSER_SERVER_KEY_FILE: names \"\(path)\", which every user of this machine can open "
                    + "(mode 0\(String(mode, radix: 8))); run: chmod 0600 \(path)"
            ])
    }

    @Test func refusesWhatIsNoFileOfOneKey() throws {
        let missing = directory.appending(path: "missing").path
        #expect(
            problems(withKeyFile(missing)) == [
                "MERGANSER_SERVER_KEY_FILE: names \"\(missing)\", which does not exist; "
                    + "set the path of a file this process can read"
            ])
        for path in [directory.path, "/dev/zero"] {
            #expect(
                problems(withKeyFile(path)) == [
                    "MERGANSER_SERVER_KEY_FILE: names \"\(path)\", which is not a readable file; "
                        + "set the path of a file this process can read"
                ])
        }
        #expect(
            problems(withKeyFile("key")) == ["MERGANSER_SERVER_KEY_FILE: is \"key\"; set an absolute path"])
        let short = try file("abcd", mode: 0o600)
        #expect(
            problems(withKeyFile(short)) == [
                "MERGANSER_SERVER_KEY_FILE: names \"\(short)\", whose content is 2 instead of 32 bytes long; "
                    + "make a key with: openssl rand -hex 32"
            ])
        let empty = try file("\n", mode: 0o600)
        #expect(
            problems(withKeyFile(empty)) == [
                "MERGANSER_SERVER_KEY_FILE: names \"\(empty)\", whose content is 0 instead of 32 bytes long; "
                    + "make a key with: openssl rand -hex 32"
            ])
        let binary = directory.appending(path: "binary").path
        try Data([0xFF, 0xFE]).write(to: URL(filePath: binary))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: binary)
        #expect(
            problems(withKeyFile(binary)) == [
                "MERGANSER_SERVER_KEY_FILE: names \"\(binary)\", which is not text; write the secret as text"
            ])
    }

    @Test func noMessageAndNoDescriptionShowsASecret() throws {
        let secret = "hunter2hunter2"
        let path = try file(secret, mode: 0o600)
        let environments = [
            good.setting(["MERGANSER_SERVER_KEY": secret]),
            good.setting(["MERGANSER_SERVER_KEY_PREVIOUS": secret]),
            good.setting(["MERGANSER_DATABASE_PASSWORD": secret, "MERGANSER_DATABASE_PASSWORD_FILE": path]),
            withKeyFile(path),
        ]
        for environment in environments {
            let found = problems(environment)
            #expect(found.count == 1)
            #expect(!found.joined().contains(secret))
        }
        let configuration = try Configuration.load(environment: good)
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(try Configuration.load(environment: good.setting(["MERGANSER_DATABASE_PASSWORD": secret])), to: &dumped)
        #expect(!dumped.contains(secret))
        for text in [dumped, "\(configuration.serverKey)", String(reflecting: configuration.serverKey)] {
            #expect(!text.contains("171") && !text.lowercased().contains("abab"), "\(text)")
        }
    }

    private func file(_ content: String, mode: Int) throws -> String {
        let path = directory.appending(path: UUID().uuidString).path
        try Data(content.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func withKeyFile(_ path: String) -> [String: String] {
        good.setting(["MERGANSER_SERVER_KEY": "", "MERGANSER_SERVER_KEY_FILE": path])
    }
}
