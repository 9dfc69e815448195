/// Removes stored values from the server's messages, so that no log line shows them.
enum Redaction {
    /// Errors whose quoted parts are names or the statement's own text. Without these parts they would be useless.
    private static let quotingNamesOnly: Set<Int> = [
        1005, 1007, 1008, 1025, 1030, 1044, 1045, 1046, 1048, 1049, 1050, 1051, 1052, 1054, 1060, 1061, 1064, 1066,
        1068, 1072, 1091, 1109, 1118, 1128, 1142, 1143, 1146, 1170, 1193, 1215, 1227, 1235, 1264, 1267, 1273,
        1305, 1359, 1360, 1364, 1370, 1406, 1419, 1451, 1452, 1553, 1698, 1845, 1846, 4025, 4166,
    ]

    /// Removes everything between the first and the last quote, because a value may contain quotes. This also applies
    /// to unknown errors, because it depends on the server's version which messages quote values.
    static func message(_ message: String, code: Int) -> String {
        if code == 1062 {
            return duplicateKey(message).map { "Duplicate entry '…' for key '\($0)'" } ?? "Duplicate entry"
        }
        let isServers = code < 2000 || code >= 3000 && code < 5000
        guard isServers, !quotingNamesOnly.contains(code) else { return message }
        let bytes = message.utf8
        guard let first = bytes.firstIndex(of: quote), let last = bytes.lastIndex(of: quote) else { return message }
        // If there is only one quote, the server has truncated a long message.
        return String(message[..<first]) + "'…" + (first == last ? "'" : String(message[last...]))
    }

    /// The name at the end of `Duplicate entry '…' for key 'name'`; some versions write `table.name`.
    static func duplicateKey(_ message: String) -> String? {
        guard message.utf8.last == quote else { return nil }
        let name = message.utf8.dropLast()
        guard let start = name.lastIndex(of: quote) else { return nil }
        let qualified = String(Substring(name[start...].dropFirst()))
        return qualified.split(separator: ".").last.map(String.init)
    }

    private static let quote = UInt8(ascii: "'")
}
