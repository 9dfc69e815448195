internal import Glibc
import HTTP

/// The parameters of a request, read in one pass.
struct Parameters {
    private var method: String?
    private var path: String?
    private var query: String?
    private var remoteAddress: String?
    private var requestID: String?
    private var headers: [(name: String, value: String)] = []
    /// Nil: none was announced.
    private(set) var contentLength: Int?

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// - Parameter environment: `NAME=value` strings, ended by a null pointer.
    init(_ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Fault) {
        headers.reserveCapacity(16)
        var next = environment
        while let entry = next.pointee {
            next += 1
            // A name with a zero byte in it ends before its "=".
            guard let equals = strchr(entry, Int32(UInt8(ascii: "="))) else { throw .unreadableRequest }
            let name = Bytes(start: entry, count: equals - entry)
            try add(name, Bytes(start: equals + 1, count: strlen(equals + 1)))
        }
        if method == nil { throw .missingParameter("REQUEST_METHOD") }
        if path == nil { throw .missingParameter("DOCUMENT_URI") }
    }

    func request(with body: any RequestBody) -> Request {
        Request(
            method: Method(rawValue: method ?? ""), path: path ?? "", query: query ?? "", headers: Headers(headers),
            remoteAddress: remoteAddress ?? "", requestID: requestID, body: body)
    }

    /// Of a parameter that comes twice the first counts; of a header all are kept.
    private mutating func add(_ name: Bytes, _ value: Bytes) throws(Fault) {
        if name.starts(with: "HTTP_") {
            // nginx passes these two under both names.
            if name.equals("HTTP_CONTENT_TYPE") || name.equals("HTTP_CONTENT_LENGTH") { return }
            headers.append((headerName(Bytes(rebasing: name.dropFirst(5))), value.text))
        } else if name.equals("REQUEST_METHOD") {
            method = method ?? value.text
        } else if name.equals("DOCUMENT_URI") {
            path = path ?? value.text
        } else if name.equals("QUERY_STRING") {
            query = query ?? value.text
        } else if name.equals("REMOTE_ADDR") {
            remoteAddress = remoteAddress ?? value.text
        } else if value.isEmpty {
            return
        } else if name.equals("REQUEST_ID") {
            requestID = requestID ?? value.text
        } else if name.equals("CONTENT_TYPE") {
            headers.append(("content-type", value.text))
        } else if name.equals("CONTENT_LENGTH") {
            // Digits alone: Int's own parser takes a sign too.
            guard value.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(value.text) else {
                throw .malformedContentLength
            }
            contentLength = contentLength ?? length
            headers.append(("content-length", value.text))
        }
    }

    /// `IF_MATCH` is `if-match`.
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

    fileprivate func starts(with prefix: StaticString) -> Bool {
        guard let baseAddress, count >= prefix.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    fileprivate func equals(_ name: StaticString) -> Bool {
        count == name.utf8CodeUnitCount && starts(with: name)
    }
}
