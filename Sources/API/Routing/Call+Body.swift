import Gzip
import HTTP

/// Why a body on the analytics surface is refused before its endpoint sees it (analytics §2.3).
enum UnusableBody: Error {
    case compressedTooLarge
    case inflatedTooLarge
    case tooLarge
    case corruptGzip
    case encoding
    case mediaType
    case malformedJSON
    /// The client disconnected before the end of the body.
    case incomplete
}

extension Call {
    /// The most bytes that a body on the analytics surface may have, both as sent and inflated.
    static let analyticsBodyLimit = 1_048_576

    /// Reads the body, and inflates it if it is compressed (analytics §2.1).
    func readAnalyticsBody() throws(UnusableBody) -> [UInt8] {
        switch request.headers.first("content-encoding")?.lowercased() {
        case nil, "": return try collect(or: .tooLarge)
        case "gzip": break
        default: throw .encoding
        }
        let compressed = try collect(or: .compressedTooLarge)
        if compressed.isEmpty { return [] }
        do {
            return try gunzip(compressed, limit: Self.analyticsBodyLimit)
        } catch .tooLarge {
            throw .inflatedTooLarge
        } catch {
            throw .corruptGzip
        }
    }

    /// Refuses a large body of a method whose body is not read.
    func refuseLargeAnalyticsBody() throws(UnusableBody) {
        if let length = request.body.length, length > Self.analyticsBodyLimit { throw .tooLarge }
    }

    private func collect(or tooLarge: UnusableBody) throws(UnusableBody) -> [UInt8] {
        do {
            return try request.body.collect(limit: Self.analyticsBodyLimit)
        } catch .tooLarge {
            throw tooLarge
        } catch {
            throw .incomplete
        }
    }
}
