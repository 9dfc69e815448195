internal import COpenSSL

// This target owns libcrypto: digests, MACs, authenticated encryption, keys and signatures, only through the EVP interface of
// OpenSSL 3.0, and its numbers. It also owns the system's random bytes. The only file format that it knows is PEM, and it knows
// nothing of JOSE.

/// A libcrypto call failed; the error has the content of the thread's error queue at that moment.
package struct OpenSSLError: Error, Equatable, Sendable {
    /// The C function.
    package let function: String
    /// OpenSSL's own lines, oldest first: `error:0A000086:SSL routines::certificate verify failed`. They hold no
    /// secrets.
    package let reasons: [String]

    /// Takes over the calling thread's whole error queue and leaves it empty.
    init(_ function: String) {
        self.function = function
        var reasons: [String] = []
        var code = ERR_get_error()
        while code != 0 {
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            reasons.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            code = ERR_get_error()
        }
        self.reasons = reasons
    }

    /// An input that was refused before libcrypto saw it.
    init(refused reason: String) {
        function = ""
        reasons = [reason]
    }
}

extension OpenSSLError: CustomStringConvertible {
    package var description: String {
        ((function.isEmpty ? [] : [function]) + (reasons.isEmpty ? ["failed"] : reasons)).joined(separator: ": ")
    }
}

/// Empties the thread's error queue, because errors that other libraries left in it do not concern the next call. It is nearly
/// always empty, and libcrypto clears all places of it.
func forgetEarlierErrors() { if ERR_peek_error() != 0 { ERR_clear_error() } }

/// Throws the content of the error queue unless a call returned 1, which libcrypto usually returns on success.
func check(_ result: Int32, _ function: String) throws(OpenSSLError) {
    if result != 1 { throw OpenSSLError(function) }
}

/// The pointer that a call returned. If it returned none, throws the content of the error queue.
func check<T>(_ result: T?, _ function: String) throws(OpenSSLError) -> T {
    guard let result else { throw OpenSSLError(function) }
    return result
}

/// For calls that fail only if memory is exhausted or the library is broken. Then continuing would be worse than
/// ending.
func require<T>(_ result: T?, _ function: String) -> T {
    guard let result else { preconditionFailure("\(OpenSSLError(function))") }
    return result
}

func require(_ result: Int32, _ function: String) {
    if result != 1 { preconditionFailure("\(OpenSSLError(function))") }
}
