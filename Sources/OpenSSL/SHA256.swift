internal import COpenSSL
internal import Glibc
internal import Text

/// The 32-byte SHA-256 digest (FIPS 180-4).
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes(sha256)
}

package func sha256(_ text: String.UTF8View) -> [UInt8] {
    text.withContiguousStorageIfAvailable { sha256(UnsafeRawBufferPointer($0)) } ?? sha256(Array(text))
}

private func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let context = Contexts.ofThisThread
    require(EVP_DigestInit_ex2(context, nil, nil), "EVP_DigestInit_ex2")
    require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count), "EVP_DigestUpdate")
    return [UInt8](filling: 32) { digest in
        require(EVP_DigestFinal_ex(context, digest.baseAddress, nil), "EVP_DigestFinal_ex")
    }
}

/// A context for each thread, which is kept: to set one up takes longer than the digest of a token.
private enum Contexts {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key) { context in EVP_MD_CTX_free(context.map(OpaquePointer.init)) }
        precondition(error == 0, "pthread_key_create failed: \(error)")
        return key
    }()

    static var ofThisThread: OpaquePointer {
        if let kept = pthread_getspecific(key) { return OpaquePointer(kept) }
        let context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        require(EVP_DigestInit_ex2(context, Algorithms.sha256, nil), "EVP_DigestInit_ex2")
        let error = pthread_setspecific(key, UnsafeRawPointer(context))
        precondition(error == 0, "pthread_setspecific failed: \(error)")
        return context
    }
}
