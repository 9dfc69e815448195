import JSON

extension Event {
    /// A webhook key is in wrong hands: what is signed with it alone proves nothing any more.
    static func webhookKeyCompromised(_ kid: String, replacedBy newKid: String, of application: Application.ID) -> Event
    {
        Event(
            application: application, kind: .webhookKeyCompromised,
            data: ["kid": .string(kid), "replaced_by": .string(newKid)])
    }
}
