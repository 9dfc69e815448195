/// The text being written, straight from the values' own `encode(to:)`.
///
/// Each value under way has a frame. A container that a value asks for explicitly (`nestedContainer`, `superEncoder`) may
/// be filled at any time until the value is done, so it is written into a text of its own, inserted at the end.
final class Writer {
    enum Shape {
        case undecided, single, object, array
    }

    private struct Output {
        struct Frame {
            var shape = Shape.undecided
            var count = 0
        }

        var bytes: [UInt8] = []
        var frames: [Frame] = []

        /// Returns the new frame's level.
        mutating func beginFrame() -> Int {
            frames.append(Frame())
            return frames.count - 1
        }

        /// Ends the innermost frame. A value that encoded nothing is an empty object, as in Foundation.
        mutating func close() {
            switch frames.removeLast().shape {
            case .undecided: bytes += "{}".utf8
            case .object: bytes.append(UInt8(ascii: "}"))
            case .array: bytes.append(UInt8(ascii: "]"))
            case .single: break
            }
        }

        mutating func open(_ level: Int, as shape: Shape) {
            if frames[level].shape == .undecided {
                frames[level].shape = shape
                if shape != .single { bytes.append(shape == .object ? UInt8(ascii: "{") : UInt8(ascii: "[")) }
            } else {
                precondition(frames[level].shape == shape && shape != .single, "a value asked for two containers")
            }
        }

        /// Counts a member or an element; returns how many there were before it.
        mutating func count(_ level: Int) -> Int {
            let count = frames[level].count
            frames[level].count = count + 1
            return count
        }

        mutating func separate(_ level: Int) {
            if count(level) > 0 { bytes.append(UInt8(ascii: ",")) }
        }

        mutating func appendMember(
            _ names: MemberNames, _ key: String, _ level: Int, atMost size: Int,
            _ value: (inout OutputSpan<UInt8>) -> Void
        ) {
            names.append(key, at: count(level), to: &bytes, atMost: size, value)
        }

        /// A member whose value is to follow.
        mutating func name(_ names: MemberNames, _ key: String, _ level: Int) {
            appendMember(names, key, level, atMost: 0) { _ in }
        }

        mutating func appendMember(_ names: MemberNames, _ key: String, _ level: Int, string: String) {
            let utf8 = string.utf8Span.span
            if utf8.firstSpecial() == utf8.count {
                appendMember(names, key, level, atMost: utf8.count + 2) { $0.append(quoted: utf8) }
            } else {
                name(names, key, level)
                appendQuoted(utf8, to: &bytes)
            }
        }

        mutating func appendSingle(_ level: Int, _ value: (inout [UInt8]) -> Void) {
            open(level, as: .single)
            value(&bytes)
        }

        mutating func append(_ values: [String]) {
            bytes.append(UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                appendQuoted(values[index], to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
    }

    /// In releases it is not checked for overlapping accesses at run time, which would take a tenth of what a member takes. No access
    /// lasts while a value's `encode(to:)` runs, and the closures that append a value do not use the writer.
    #if DEBUG
    private var output = Output()
    #else
    private var output: Output {
        _read { yield unsafe unchecked }
        _modify { yield unsafe &unchecked }
    }

    @exclusivity(unchecked) private var unchecked = Output()
    #endif
    private var insertions: [(offset: Int, text: Writer)] = []

    init() {
        output.bytes.reserveCapacity(256)
        output.frames.reserveCapacity(8)
    }

    // MARK: Values

    func write<T: Encodable>(_ value: T) throws {
        // The standard library's own `encode(to:)` would come back here through an existential container.
        if T.self == String.self, let value = value as? String {
            append(value)
        } else if T.self == JSONValue.self, let value = value as? JSONValue {
            append(value)
        } else if T.self == KeptJSON.self, let value = value as? KeptJSON {
            output.bytes += value.utf8
        } else if T.self == [String].self, let values = value as? [String] {
            output.append(values)
        } else {
            try value.encode(to: ValueEncoder(writer: self, level: output.beginFrame()))
            output.close()
        }
    }

    /// Makes a frame an object or an array, once.
    func open(_ level: Int, as shape: Shape) { output.open(level, as: shape) }

    func separate(_ level: Int) { output.separate(level) }

    func count(_ level: Int) -> Int { output.frames[level].count }

    /// A member whose value is written next.
    func name(_ names: MemberNames, _ key: String, _ level: Int) { output.name(names, key, level) }

    /// A member whose value is appended at once, which takes so many bytes at most. The closure must not use the writer.
    func appendMember(
        _ names: MemberNames, _ key: String, _ level: Int, atMost size: Int, _ value: (inout OutputSpan<UInt8>) -> Void
    ) {
        output.appendMember(names, key, level, atMost: size, value)
    }

    func appendMember(_ names: MemberNames, _ key: String, _ level: Int, string: String) {
        output.appendMember(names, key, level, string: string)
    }

    /// A frame's one value, appended at once. The closure must not use the writer.
    func appendSingle(_ level: Int, _ value: (inout [UInt8]) -> Void) { output.appendSingle(level, value) }

    /// A text of its own, to be inserted here.
    func insert(_ shape: Shape) -> Writer {
        let text = Writer()
        text.output.frames.append(Output.Frame())
        if shape != .undecided { text.open(0, as: shape) }
        insertions.append((output.bytes.count, text))
        return text
    }

    func finish() -> [UInt8] {
        while !output.frames.isEmpty { output.close() }
        let bytes = output.bytes
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

    func appendNull() { JSON.appendNull(to: &output.bytes) }

    func append(_ value: String) { appendQuoted(value, to: &output.bytes) }

    func append(_ value: JSONValue) { value.append(to: &output.bytes) }
}
