import JSON

extension Event {
    /// A webhook key is in the wrong hands: if nothing but this key signed an event, the signature proves nothing.
    static func webhookKeyCompromised(_ kid: String, replacedBy newKid: String, of application: Application.ID) -> Event
    {
        Event(
            application: application, kind: .webhookKeyCompromised,
            data: ["kid": .string(kid), "replaced_by": .string(newKid)])
    }
}
