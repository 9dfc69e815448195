import Foundation

/// One item of a store as the value that it encodes.
struct RecordStore<Record: Codable & Sendable>: Sendable {
    let store: any SecureStore
    let item: StoredItem
    /// What a store without the item holds.
    let empty: Record

    /// - Throws: `storeUnavailable`.
    func read() throws(MerganserError) -> Record {
        do throws(StoreFault) { return try decode(try store.read(item)) } catch { throw .storeUnavailable(error) }
    }

    /// Changes the record; no other process does meanwhile.
    ///
    /// - Parameter change: may run twice.
    /// - Throws: `storeUnavailable`; then nothing has changed.
    @discardableResult
    func update<Result>(_ change: (inout Record) -> Result) throws(MerganserError) -> Result {
        do throws(StoreFault) {
            var result: Result?
            try store.update(item) { content throws(StoreFault) in
                var record = try decode(content)
                result = change(&record)
                let encoded = try Self.encoded(record)
                // An item that says nothing would hide one that may still move here, such as into a Keychain group.
                if content == nil, try encoded == Self.encoded(empty) { return nil }
                return encoded
            }
            guard let result else { throw .unreadable("the store did not ask for a change") }
            return result
        } catch {
            throw .storeUnavailable(error)
        }
    }

    /// Removes what cannot be decoded, for a user who signs out of whatever it is.
    ///
    /// - Throws: `storeUnavailable`; then nothing has changed.
    func discardUndecodable() throws(MerganserError) {
        do throws(StoreFault) {
            guard !isDecodable(try store.read(item)) else { return }
            try store.update(item) { isDecodable($0) ? $0 : nil }
        } catch {
            throw .storeUnavailable(error)
        }
    }

    private func isDecodable(_ content: Data?) -> Bool { (try? decode(content)) != nil }

    /// What cannot be decoded is not taken for nothing: it may be of a later version of the app.
    private func decode(_ content: Data?) throws(StoreFault) -> Record {
        guard let content else { return empty }
        do { return try JSONDecoder().decode(Record.self, from: content) } catch { throw .unreadable("\(item.kind)") }
    }

    /// What a store holds for a record.
    static func encoded(_ record: Record) throws(StoreFault) -> Data {
        let encoder = JSONEncoder()
        // Equal records have equal bytes, so that a change that changes nothing writes nothing.
        encoder.outputFormatting = .sortedKeys
        do { return try encoder.encode(record) } catch { throw .unreadable("\(error)") }
    }
}
