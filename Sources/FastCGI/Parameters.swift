import CFastCGI
internal import Glibc
import HTTP
internal import Text

/// The parameters of a request, read in one pass.
struct Parameters {
    private var method: String?
    private var path: String?
    private var query: String?
    private var target: String?
    private var remoteAddress: String?
    private var requestID: String?
    /// When nginx passed the request on, in milliseconds since 1970.
    private var handedOnAt: Int?
    private var headers = Headers(capacity: 16)
    private var announcedLength: Int?
    /// Whether nginx withholds the body because of its size.
    private var isBodyUnread = false

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// - Parameter environment: `NAME=value` strings, terminated by a null pointer.
    init(_ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Fault) {
        var next = environment
        while let entry = next.pointee {
            next += 1
            // A name that has a zero byte ends before its "=".
            guard let equals = strchr(entry, Int32(UInt8(ascii: "="))) else { throw .unreadableRequest }
            let name = Bytes(start: entry, count: equals - entry)
            try add(name, Bytes(start: equals + 1, count: strlen(equals + 1)))
        }
        if method == nil { throw .missingParameter("REQUEST_METHOD") }
        if path == nil { throw .missingParameter("DOCUMENT_URI") }
    }

    /// How many bytes of a body follow on the connection; nil if the length was not announced.
    var contentLength: Int? { isBodyUnread ? 0 : announcedLength }

    func request(with body: any RequestBody) -> Request {
        let body: any RequestBody = isBodyUnread ? UnreadBody() : body
        return Request(
            method: Method(rawValue: method ?? ""), path: path ?? "", query: query ?? "", target: target,
            headers: headers, remoteAddress: remoteAddress ?? "", requestID: requestID, waited: waited,
            body: body)
    }

    /// How long the request has waited until now. Both times come from the same machine's clock. If the clock was set
    /// back meanwhile, the result is zero.
    private var waited: Duration {
        guard let handedOnAt else { return .zero }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return max(.zero, .milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1_000_000 - handedOnAt))
    }

    /// If a parameter comes twice, the first one counts. All copies of a header are kept.
    private mutating func add(_ name: Bytes, _ value: Bytes) throws(Fault) {
        if name.starts(with: "HTTP_") {
            // nginx passes these two under both names.
            if name.equals("HTTP_CONTENT_TYPE") || name.equals("HTTP_CONTENT_LENGTH") { return }
            headers.append(headerName(Bytes(rebasing: name.dropFirst(5))), value.text)
        } else if name.equals("REQUEST_METHOD") {
            method = method ?? value.text
        } else if name.equals("DOCUMENT_URI") {
            path = path ?? value.text
        } else if name.equals("QUERY_STRING") {
            query = query ?? value.escapedText
        } else if name.equals("REMOTE_ADDR") {
            remoteAddress = remoteAddress ?? value.text
        } else if value.isEmpty {
            return
        } else if name.equals("REQUEST_URI") {
            target = target ?? value.text
        } else if name.equals("REQUEST_ID") {
            requestID = requestID ?? value.text
        } else if name.equals("HANDED_ON_AT") {
            handedOnAt = handedOnAt ?? value.milliseconds
        } else if name.equals("BODY_UNREAD") {
            isBodyUnread = true
        } else if name.equals("CONTENT_TYPE") {
            headers.append("content-type", value.text)
        } else if name.equals("CONTENT_LENGTH") {
            // Only digits are allowed; Int's own parser would accept a sign, too.
            guard value.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(value.text) else {
                throw .malformedContentLength
            }
            announcedLength = announcedLength ?? length
            headers.append("content-length", value.text)
        }
    }

    /// Turns `IF_MATCH` into `if-match`.
    private func headerName(_ name: Bytes) -> String {
        String(unsafeUninitializedCapacity: name.count) { buffer in
            for (index, byte) in name.enumerated() {
                buffer[index] =
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
                    case UInt8(ascii: "_"): UInt8(ascii: "-")
                    default: byte
                    }
            }
            return name.count
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate init(start: UnsafeMutablePointer<CChar>, count: Int) {
        self.init(start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
    }

    fileprivate var text: String { String(decoding: self, as: UTF8.self) }

    /// Percent-encodes bytes beyond ASCII, as a URI requires (RFC 3986 §2.1). They need not be UTF-8, and decode to the
    /// same bytes.
    fileprivate var escapedText: String {
        if allSatisfy({ $0 < 0x80 }) { return text }
        return String(decoding: flatMap { $0 < 0x80 ? [$0] : $0.percentEncoded }, as: UTF8.self)
    }

    /// Milliseconds from seconds with three decimals, as nginx writes `$msec`; nil for anything else.
    fileprivate var milliseconds: Int? {
        // 9999-12-31 has twelve digits before the point.
        guard (5...16).contains(count), self[count - 4] == UInt8(ascii: ".") else { return nil }
        var number = 0
        for (index, byte) in enumerated() where index != count - 4 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    fileprivate func starts(with prefix: StaticString) -> Bool {
        guard let baseAddress, count >= prefix.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    fileprivate func equals(_ name: StaticString) -> Bool {
        count == name.utf8CodeUnitCount && starts(with: name)
    }
}
