extension String {
    /// Text that is not ASCII cannot be compared with an ASCII column: MariaDB refuses the statement (1267).
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
