/// Names that libcrypto's contexts keep the address of: a Swift string's would be gone after the call.
enum Name {
    static let rsa: StaticString = "RSA"
    static let ec: StaticString = "EC"
}

extension StaticString {
    /// Ends with a zero byte and stays for ever.
    var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
