/// The text being written, straight from the values' own `encode(to:)`.
///
/// Each value under way has a frame. A container that a value asks for explicitly (`nestedContainer`, `superEncoder`) may
/// be filled at any time until the value is done, so it is written into a text of its own, inserted at the end.
final class Writer {
    enum Shape {
        case undecided, single, object, array
    }

    private struct Frame {
        var shape = Shape.undecided
        var count = 0
    }

    private var bytes: [UInt8] = []
    private var frames: [Frame] = []
    private var insertions: [(offset: Int, text: Writer)] = []

    init() {
        bytes.reserveCapacity(256)
        frames.reserveCapacity(8)
    }

    // MARK: Values

    func write<T: Encodable>(_ value: T) throws {
        // The standard library's own `encode(to:)` would come back here through an existential container.
        if T.self == String.self, let value = value as? String {
            append(value)
        } else if T.self == JSONValue.self, let value = value as? JSONValue {
            append(value)
        } else if T.self == [String].self, let values = value as? [String] {
            bytes.append(UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(values[index])
            }
            bytes.append(UInt8(ascii: "]"))
        } else {
            frames.append(Frame())
            try value.encode(to: ValueEncoder(writer: self, level: frames.count - 1))
            close()
        }
    }

    /// Ends the innermost frame. A value that encoded nothing is an empty object, as in Foundation.
    private func close() {
        switch frames.removeLast().shape {
        case .undecided: bytes += "{}".utf8
        case .object: bytes.append(UInt8(ascii: "}"))
        case .array: bytes.append(UInt8(ascii: "]"))
        case .single: break
        }
    }

    /// Makes a frame an object or an array, once.
    func open(_ level: Int, as shape: Shape) {
        if frames[level].shape == .undecided {
            frames[level].shape = shape
            if shape != .single { bytes.append(shape == .object ? UInt8(ascii: "{") : UInt8(ascii: "[")) }
        } else {
            precondition(frames[level].shape == shape && shape != .single, "a value asked for two containers")
        }
    }

    /// - Returns: the number of elements or members so far.
    @discardableResult
    func separate(_ level: Int) -> Int {
        let count = frames[level].count
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        frames[level].count += 1
        return count
    }

    func count(_ level: Int) -> Int { frames[level].count }

    /// - Parameter text: in quotes, with the colon.
    func name(_ names: MemberNames, _ key: String, _ level: Int) {
        separate(level)
        names.append(key, to: &bytes)
    }

    /// A text of its own, to be inserted here.
    func insert(_ shape: Shape) -> Writer {
        let text = Writer()
        text.frames.append(Frame())
        if shape != .undecided { text.open(0, as: shape) }
        insertions.append((bytes.count, text))
        return text
    }

    func finish() -> [UInt8] {
        while !frames.isEmpty { close() }
        if insertions.isEmpty { return bytes }
        var result: [UInt8] = []
        var position = 0
        for (offset, text) in insertions {
            result += bytes[position..<offset]
            result += text.finish()
            position = offset
        }
        return result + bytes[position...]
    }

    // MARK: Text

    func appendNull() { JSONValue.null.append(to: &bytes) }

    func append(_ value: Bool) { JSONValue.bool(value).append(to: &bytes) }

    func append(_ value: some FixedWidthInteger) { bytes += value.description.utf8 }

    func append(_ value: Double) { JSONValue.number(value).append(to: &bytes) }

    func append(_ value: String) { appendQuoted(value, to: &bytes) }

    func append(_ value: JSONValue) { value.append(to: &bytes) }
}
