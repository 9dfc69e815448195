/// How many events there are, of how many people, in how many sessions (analytics §13.1).
package struct EventCount: Encodable, Sendable {
    var count = 0
    var uniqueUsers = 0
    var uniqueSessions = 0
}
