/// Names whose address libcrypto's contexts keep. The address of a Swift string would be invalid after the call.
enum Name {
    static let rsa: StaticString = "RSA"
    static let ec: StaticString = "EC"
    static let sha256: StaticString = "SHA256"
}

extension StaticString {
    /// Ends with a zero byte and is never freed.
    var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
