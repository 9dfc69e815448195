import Analytics
import HTTP
import JSON
import Text

extension Call {
    /// The members of the body (analytics §2.1). There are none if there is no body, or if it is not a JSON object.
    ///
    /// - Throws: `UnusableBody` if the media type or the JSON text cannot be read.
    func fields() throws -> JSONObject {
        guard case .object(let object) = try parsedFields()?.value else { return JSONObject([]) }
        return object
    }

    /// The same members, read in place; nil if there are none. For batches.
    func batchFields() throws -> ParsedObject? { try parsedFields()?.object }

    private func parsedFields() throws -> ParsedValue? {
        if body.isEmpty { return nil }
        switch request.headers.first("content-type")?.mediaType {
        case "text/plain": return nil
        case "application/json": break
        default: throw UnusableBody.mediaType
        }
        do { return try ParsedJSON(body).root } catch { throw UnusableBody.malformedJSON }
    }

    /// The client's country (analytics §2.7): two letters, or nil.
    private var country: String? {
        guard let header = service.front.countryHeader, let value = request.headers.first(header) else {
            return nil
        }
        let country = value.trimmed.uppercased()
        guard country.utf8.count == 2, country.utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
            !["XX", "T1"].contains(country)
        else { return nil }
        return country
    }

    /// The end user's country; nil for a backend, which is not where its users are.
    func country(for app: App) -> String? { app.platform == .backend ? nil : country }
}

extension JSONObject {
    /// The member with the id of an end user.
    ///
    /// - Throws: 400 unless it is a non-empty string.
    func endUserID(_ name: String) throws(Refusal) -> EndUserID {
        guard let text = self[name]?.string, !text.isEmpty else { throw .invalid("\(name) is required") }
        return EndUserID(rawValue: text)
    }
}
