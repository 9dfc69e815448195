import FoundationEssentials

/// Reads a file that holds one secret. The result has no line break at its end.
func secretFile(_ path: String) throws(InvalidValue) -> String {
    let url = URL(filePath: try absolutePath(path)).resolvingSymlinksInPath()
    let mode: UInt
    let content: Data
    do {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        // A device may have no end. Without Foundation the mode is a UInt and cast to no other type.
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            let permissions = attributes[.posixPermissions] as? UInt
        else { throw CocoaError(.fileReadUnknown) }
        mode = permissions
        content = try Data(contentsOf: url)
    } catch {
        throw InvalidValue(
            "names \(quoted(path)), which \(reason(error)); set the path of a file this process can read")
    }
    if mode & 0o007 != 0 {
        throw InvalidValue(
            "names \(quoted(path)), which every user of this machine can open (mode 0\(String(mode, radix: 8)));"
                + " run: chmod 0600 \(path)")
    }
    let bytes = content.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed()
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw InvalidValue("names \(quoted(path)), which is not text; write the secret as text")
    }
    return text
}

private func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile: "does not exist"
    case .fileReadNoPermission: "this process may not read"
    default: "is not a readable file"
    }
}
