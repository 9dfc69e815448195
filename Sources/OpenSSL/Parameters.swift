internal import COpenSSL

/// An `OSSL_PARAM` array and everything that it points to, because OpenSSL copies neither names nor values.
final class Parameters {
    private var list: [OSSL_PARAM] = []
    private var storage: [UnsafeMutableRawBufferPointer] = []

    deinit { storage.forEach { $0.deallocate() } }

    func append(_ name: String, text: String) {
        list.append(OSSL_PARAM_construct_utf8_string(cString(name), cString(text), text.utf8.count))
    }

    func append(_ name: String, bytes: [UInt8]) {
        list.append(OSSL_PARAM_construct_octet_string(cString(name), copy(bytes).baseAddress, bytes.count))
    }

    /// - Parameter number: big-endian. OSSL_PARAM(3): integers are in native byte order.
    func append(_ name: String, number: [UInt8]) {
        #if _endian(little)
        let native = copy(number.reversed())
        #else
        let native = copy(number)
        #endif
        list.append(
            OSSL_PARAM_construct_BN(cString(name), native.bindMemory(to: UInt8.self).baseAddress, number.count))
    }

    func withUnsafePointer<Result>(_ body: (UnsafeMutablePointer<OSSL_PARAM>?) -> Result) -> Result {
        var terminated = list + [OSSL_PARAM_construct_end()]
        return withExtendedLifetime(self) {
            terminated.withUnsafeMutableBufferPointer { body($0.baseAddress) }
        }
    }

    private func copy(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        storage.append(copy)
        return copy
    }

    private func cString(_ text: String) -> UnsafeMutablePointer<CChar>? {
        copy(Array(text.utf8) + [0]).bindMemory(to: CChar.self).baseAddress
    }
}
