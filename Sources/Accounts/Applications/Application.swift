/// A registered OAuth client: a relying party.
package struct Application: Sendable {
    package typealias ID = Identifier<Application>
}

/// The consent of one user to one application.
package struct Grant: Sendable {
    package typealias ID = Identifier<Grant>
}
