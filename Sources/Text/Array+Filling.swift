extension [UInt8] {
    /// So many bytes, which a closure writes. `init(repeating:count:)` and `init(unsafeUninitializedCapacity:)` are generic, and look
    /// types up at each call, which takes longer than to write a digest.
    ///
    /// - Parameter fill: writes all bytes. It is not called for none.
    @inlinable
    package init<E: Error>(
        filling count: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) throws(E) -> Void
    ) throws(E) {
        self = []
        // An empty array is shared by all threads, and appending nothing would write its count.
        if count == 0 { return }
        try append(addingCapacity: count) { output throws(E) in
            // Unsafe is only that the bytes are not initialized before.
            try unsafe output.withUnsafeMutableBufferPointer { buffer, initialized throws(E) in
                try unsafe fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
                initialized = count
            }
        }
    }
}
