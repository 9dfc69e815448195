internal import Glibc
import HTTP

/// The parameters of a request, read in one pass.
struct Parameters {
    private var method: String?
    private var path: String?
    private var query = ""
    private var headers: [(name: String, value: String)] = []
    private var remoteAddress = ""
    private var requestID: String?
    private(set) var contentLength: Int?

    /// Nil when what every request has is missing, or the content length is no number: the record stream is not nginx's.
    ///
    /// - Parameter environment: `NAME=value` strings, ended by a null pointer.
    init?(_ environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        guard var entry = environment else { return nil }
        headers.reserveCapacity(16)
        while let text = entry.pointee {
            entry += 1
            guard let equals = strchr(text, Int32(UInt8(ascii: "="))) else { continue }
            let name = UnsafeBufferPointer(start: text, count: equals - text)
            let value = String(cString: equals + 1)
            if name.starts(with: Parameters.headerPrefix) {
                headers.append((Parameters.headerName(name), value))
            } else if !set(String(decoding: name.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self), value) {
                return nil
            }
        }
        if method == nil || path == nil { return nil }
    }

    func request(with body: any RequestBody) -> Request {
        Request(
            method: Method(rawValue: method ?? ""), path: path ?? "", query: query, headers: Headers(headers),
            remoteAddress: remoteAddress, requestID: requestID, body: body)
    }

    /// - Returns: false for a value that cannot be.
    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "REQUEST_METHOD": method = value
        case "DOCUMENT_URI": path = value
        case "QUERY_STRING": query = value
        case "REMOTE_ADDR": remoteAddress = value
        case "REQUEST_ID": requestID = value.isEmpty ? nil : value
        case "CONTENT_TYPE": if !value.isEmpty { headers.append(("content-type", value)) }
        case "CONTENT_LENGTH":
            if value.isEmpty { return true }
            guard let length = Int(value), length >= 0 else { return false }
            contentLength = length
        default: break
        }
        return true
    }

    private static let headerPrefix = "HTTP_".utf8.map { CChar(bitPattern: $0) }

    /// `HTTP_IF_MATCH` is `if-match`.
    private static func headerName(_ name: UnsafeBufferPointer<CChar>) -> String {
        String(unsafeUninitializedCapacity: name.count - headerPrefix.count) { buffer in
            for (index, character) in name.dropFirst(headerPrefix.count).enumerated() {
                let byte = UInt8(bitPattern: character)
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): buffer[index] = byte | 0x20
                case UInt8(ascii: "_"): buffer[index] = UInt8(ascii: "-")
                default: buffer[index] = byte
                }
            }
            return name.count - headerPrefix.count
        }
    }
}
