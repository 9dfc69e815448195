import Analytics
import ArgumentParser

/// Reads an option's or argument's id.
///
/// - Parameter command: the command that lists the ids, such as `team list`.
func identifier<Entity>(listedBy command: String) -> @Sendable (String) throws -> EntityID<Entity> {
    { text in
        guard let id = EntityID<Entity>(text) else {
            throw ValidationError("ids are UUIDs; `merganserctl \(command)` shows them")
        }
        return id
    }
}
