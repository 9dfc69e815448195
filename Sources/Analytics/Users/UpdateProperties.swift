package import Database

/// `POST /v1/identity/properties` (analytics §6).
package struct UpdateProperties: Sendable {
    package var userID: EndUserID
    package var changes: PropertyChanges

    package init(userID: EndUserID, changes: PropertyChanges) {
        self.userID = userID
        self.changes = changes
    }

    package static let maximumKeyLength = 50
    package static let maximumValueLength = 200

    /// Checks one entry.
    ///
    /// - Parameter value: nil if it is not a string.
    package static func check(key: String, value: String?) throws(Refusal) {
        if key.isEmpty { throw .invalid("Property keys must be non-empty strings") }
        if key.isLonger(than: maximumKeyLength) {
            throw .invalid("Property key \"\(key)\" exceeds max length of \(maximumKeyLength)")
        }
        guard let value else { throw .invalid("Property value for \"\(key)\" must be a string") }
        if value.isLonger(than: maximumValueLength) {
            throw .invalid("Property value for \"\(key)\" exceeds max length of \(maximumValueLength)")
        }
    }
}

extension Analytics {
    /// - Returns: all properties afterwards.
    /// - Throws: `invalid` if there would be too many. If the request alone has too many, nothing is locked (§6.1).
    package func updateProperties(
        _ request: UpdateProperties, in project: Project.ID, _ proof: KeyProof, _ database: Database
    ) throws -> Properties {
        if request.changes.isEmpty {
            return try database.read { connection in
                try connection.confirm(proof)
                return try connection.owner(of: request.userID, in: project)?.readProperties() ?? Properties()
            }
        }
        if request.changes.sets.count > Properties.maximumCount { throw Refusal.tooManyProperties }
        // If only keys are deleted, no record need be created.
        let new = request.changes.sets.isEmpty ? nil : NewRecord()
        return try write(database, proof: proof) { transaction in
            guard let owner = try transaction.lockOwner(of: request.userID, in: project, orCreate: new) else {
                return Properties()
            }
            return try transaction.setProperties(request.changes, of: owner, isCapped: true)
        }
    }
}
