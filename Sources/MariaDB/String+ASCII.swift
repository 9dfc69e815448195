extension String {
    /// Other text cannot be compared with a column that is ASCII: MariaDB refuses the statement (1267).
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
