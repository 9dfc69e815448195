import TestSupport

/// A request as nginx writes it (FastCGI specification 1.0, §3 and §5), and its expected fate. This reader is simple
/// and slow, and knows only records that nginx writes.
struct FastCGIMessage {
    /// Its records.
    let bytes: [UInt8]
    let id: UInt16
    /// Nil if the request cannot be handled, and gets no answer.
    let handled: FuzzedResponder.Handled?
    /// Whether the connection carries another request afterwards.
    let isKept: Bool

    /// Takes the records of one request from the start of a stream. If the stream does not begin with a complete
    /// request, returns nil and leaves the stream unchanged.
    init?(_ stream: inout ArraySlice<UInt8>) {
        var rest = stream
        // Padding behind these and behind the end of a stream is nothing that libfcgi expects.
        guard let begin = Record(&rest), begin.type == FastCGIClient.RecordType.beginRequest, begin.id != 0,
            begin.content.count == 8, begin.padding == 0, begin.content.prefix(2).elementsEqual([0, 1]),
            let parameters = Self.content(FastCGIClient.RecordType.parameters, begin.id, &rest),
            let pairs = Self.pairs(parameters),
            let body = Self.content(FastCGIClient.RecordType.standardInput, begin.id, &rest)
        else { return nil }
        bytes = Array(stream[..<rest.startIndex])
        id = begin.id
        (handled, isKept) = Self.fate(pairs, body, isToBeKept: begin.content[begin.content.startIndex + 2] & 1 == 1)
        stream = rest
    }

    // MARK: Records

    private struct Record {
        let type: UInt8
        let id: UInt16
        let content: ArraySlice<UInt8>
        let padding: Int

        init?(_ stream: inout ArraySlice<UInt8>) {
            guard stream.count >= 8 else { return nil }
            let header = Array(stream.prefix(8))
            let size = Int(header[4]) << 8 | Int(header[5])
            padding = Int(header[6])
            guard header[0] == 1, stream.count >= 8 + size + padding else { return nil }
            type = header[1]
            id = UInt16(header[2]) << 8 | UInt16(header[3])
            content = stream.dropFirst(8).prefix(size)
            stream = stream.dropFirst(8 + size + padding)
        }
    }

    /// A stream's records up to the empty one.
    private static func content(_ type: UInt8, _ id: UInt16, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var content: [UInt8] = []
        while let record = Record(&rest), record.type == type, record.id == id {
            if record.content.isEmpty { return record.padding == 0 ? content : nil }
            content += record.content
        }
        return nil
    }

    private static func pairs(_ content: [UInt8]) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]? {
        var pairs: [(ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
        var rest = content[...]
        func size() -> Int? {
            guard let first = rest.first else { return nil }
            let bytes = rest.prefix(first < 0x80 ? 1 : 4)
            guard first < 0x80 || bytes.count == 4 else { return nil }
            rest = rest.dropFirst(bytes.count)
            return bytes.reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        }
        while !rest.isEmpty {
            guard let name = size(), let value = size(), rest.count >= name + value else { return nil }
            pairs.append((rest.prefix(name), rest.dropFirst(name).prefix(value)))
            rest = rest.dropFirst(name + value)
        }
        return pairs
    }

    // MARK: The request

    private static func fate(
        _ pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)], _ body: [UInt8], isToBeKept: Bool
    ) -> (FuzzedResponder.Handled?, isKept: Bool) {
        var values: [String: [UInt8]] = [:]
        var headers: [FuzzedResponder.Handled.Header] = []
        var length: Int?
        var isUnread = false
        for pair in pairs {
            // libfcgi makes `NAME=value` with a zero byte behind it of each.
            let entry = (pair.name + [UInt8(ascii: "=")] + pair.value).prefix { $0 != 0 }
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { return (nil, false) }
            let name = Array(entry[..<equals])
            // As a string and back, which repairs what is no UTF-8.
            let value = Array(entry[(equals + 1)...].text.utf8)
            switch name.text {
            case "HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH": break
            case _ where name.starts(with: "HTTP_".utf8):
                headers.append(.init(name: headerName(name.dropFirst(5)), value: value))
            case "REQUEST_METHOD", "DOCUMENT_URI", "REMOTE_ADDR":
                values[name.text] = values[name.text] ?? value
            case "QUERY_STRING":
                values[name.text] = values[name.text] ?? entry[(equals + 1)...].flatMap(escaped)
            case _ where value.isEmpty: break
            case "REQUEST_ID": values[name.text] = values[name.text] ?? value
            case "CONTENT_TYPE": headers.append(.init(name: Array("content-type".utf8), value: value))
            case "CONTENT_LENGTH":
                guard value.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value.text) else {
                    return (nil, false)
                }
                length = length ?? number
                headers.append(.init(name: Array("content-length".utf8), value: value))
            case "BODY_UNREAD": isUnread = true
            default: break
            }
        }
        guard let method = values["REQUEST_METHOD"], let path = values["DOCUMENT_URI"] else { return (nil, false) }
        var handled = FuzzedResponder.Handled(method: method, path: path)
        handled.query = values["QUERY_STRING"] ?? []
        handled.remoteAddress = values["REMOTE_ADDR"] ?? []
        handled.requestID = values["REQUEST_ID"]
        handled.headers = headers
        // Whatever comes after all is thrown away.
        if isUnread { return (handled, false) }
        let hasLength = length ?? body.count == body.count
        switch FuzzedResponder.Reading(path: path) {
        case .all:
            handled.body = body
            return hasLength ? (handled, isToBeKept) : (nil, false)
        case .oneByte:
            handled.body = Array(body.prefix(1))
            // One of them alone has a first byte.
            if let length, (length == 0) != body.isEmpty { return (nil, false) }
        case .nothing: break
        }
        // Kept only if the rest of the body comes in time.
        return (handled, false)
    }

    /// Bytes beyond ASCII arrive percent-encoded.
    private static func escaped(_ byte: UInt8) -> [UInt8] {
        byte < 0x80 ? [byte] : Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
    }

    private static func headerName(_ name: ArraySlice<UInt8>) -> [UInt8] {
        let lower = name.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"): UInt8(ascii: "-")
            default: byte
            }
        }
        return Array(lower.text.utf8)
    }

    /// The expected answer of the responder (RFC 3875 §6); nil if there must be none.
    var answer: [UInt8]? {
        guard let handled else { return nil }
        var answer = Array("Status: 200 OK\r\n".utf8)
        for header in handled.headers {
            let value = header.value.map { $0 < 0x20 && $0 != 0x09 ? 0x20 : $0 }
            answer += Array("\(FuzzedResponder.echoField): ".utf8) + value + Array("\r\n".utf8)
        }
        answer += Array("Content-Length: \(handled.body.count)\r\n\r\n".utf8)
        return handled.method == Array("HEAD".utf8) ? answer : answer + handled.body
    }

    // MARK: What libfcgi cannot take

    /// Whether libfcgi may abort the process because of bytes that nginx does not write.
    ///
    /// It aborts if a GET_VALUES record names more than three variables that it knows, because the answer does not fit
    /// its buffer. It also aborts if a parameter announces 2 GiB or more, because it gets no memory. Which bytes it
    /// reads as names or lengths depends on all bytes before. So this limits the input to three names anywhere, and to
    /// 64 MiB at each position that may be a length.
    static func mayAbortLibrary(_ stream: ArraySlice<UInt8>) -> Bool {
        let prefix = Array("FCGI_M".utf8)
        return stream.contains { $0 >= 0x84 }
            || stream.indices.count { stream[$0...].starts(with: prefix) } > 3
    }
}
