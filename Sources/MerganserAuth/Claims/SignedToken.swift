import Foundation
import MerganserClient

/// A JWT taken apart (RFC 7519), not verified.
struct SignedToken {
    struct Header: Decodable {
        let alg: String
        let kid: String?
        let crit: [String]?
    }

    let header: Header
    /// JSON.
    let payload: Data
    let signature: Data
    /// What the signature is over.
    let signed: Data

    init(_ token: String) throws(IDTokenFault) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Data(base64URL: parts[0]), let payload = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]),
            let decoded = try? JSONDecoder().decode(Header.self, from: header)
        else { throw .malformed }
        self.header = decoded
        self.payload = payload
        self.signature = signature
        signed = Data("\(parts[0]).\(parts[1])".utf8)
    }

    func claims<Claims: Decodable>(_ type: Claims.Type) throws(IDTokenFault) -> Claims {
        do { return try JSONDecoder().decode(type, from: payload) } catch { throw .malformed }
    }
}

/// When a token ends, in server time (RFC 7519 §4.1.4).
struct TokenTimes: Decodable {
    let exp: Date
    let iat: Date

    enum CodingKeys: CodingKey { case exp, iat }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        exp = Date(timeIntervalSince1970: try container.decode(Double.self, forKey: .exp))
        iat = Date(timeIntervalSince1970: try container.decode(Double.self, forKey: .iat))
    }
}
