/// The body of `POST /v1/ingest` (analytics §8), from events that are JSON already.
package enum IngestRequest {
    package static func body(_ events: [ArraySlice<UInt8>], bundleID: String?) -> [UInt8] {
        var head = JSONText()
        head.member("bundle_id", bundleID)
        var body = head.end()
        body.removeLast()
        body.reserveCapacity(events.reduce(body.count + 16) { $0 + $1.count + 1 })
        if body.count > 1 { body.append(UInt8(ascii: ",")) }
        body.append(contentsOf: #""events":["#.utf8)
        for (index, event) in events.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(contentsOf: event)
        }
        body.append(contentsOf: "]}".utf8)
        return body
    }
}
