public import Foundation

/// A file that belongs to an event, such as the document that could not be read.
public struct EventAttachment: Sendable {
    enum Source: Sendable {
        case file(URL)
        case data(Data)
    }

    let source: Source
    let name: String
    let contentType: String

    /// A file, which is copied in the background soon after the call.
    ///
    /// - Parameters:
    ///   - file: it may be removed once `persist` has returned.
    ///   - name: by default the file's.
    ///   - contentType: by default one that says nothing about the content.
    public init(file: URL, name: String? = nil, contentType: String = "application/octet-stream") {
        (source, self.name, self.contentType) = (.file(file), name ?? file.lastPathComponent, contentType)
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the content.
    ///   - name: of the file that the server shows.
    ///   - contentType: by default one that says nothing about the content.
    public init(_ data: Data, name: String, contentType: String = "application/octet-stream") {
        (source, self.name, self.contentType) = (.data(data), name, contentType)
    }
}
