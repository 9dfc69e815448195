import HTTP
import JOSE
import JSON
import TestSupport
import Testing

/// What the tokens of an authorization that an anonymous account gave are exchanged for, after that account has become
/// an identified one (accounts §1.4). A thief who had a copy of its PAK may hold them.
@Suite struct AnonymousFamilyTests {
    let scene: OAuthScene
    /// The operator's own application, which takes anonymous users.
    let own: TestClient
    let phone: Phone

    init() throws {
        scene = try OAuthScene()
        own = try scene.register(anonymous: true, firstParty: true)
        phone = try scene.anonymous()
    }

    private func exchange(_ tokens: Tokens, on number: Int, secret: String? = nil) -> Answer {
        scene.client.send(
            .post, "/api/v1/me/device_keys/exchange",
            (["device_uuid": .string(uuid(number)), "platform": "ios"] as JSONValue).adding([
                "device_secret": secret.map { .string($0) }
            ]), token: tokens.access)
    }

    /// Whether an exchange on a new device gives a full PAK, and not one that is bound to the application.
    private func isFull(_ tokens: Tokens, sourceLocation: SourceLocation = #_sourceLocation) throws -> Bool {
        try isFull(exchange(tokens, on: scene.next()), sourceLocation: sourceLocation)
    }

    /// The same for the answer to an exchange.
    private func isFull(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) throws -> Bool {
        try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
        let pak = try #require(answer["access_token"]?.string, sourceLocation: sourceLocation)
        let isFull = answer["scopes"]?.array?.count == 6
        #expect(isFull || answer["scopes"] == ["profile:write"], sourceLocation: sourceLocation)
        #expect(
            scene.client.send(.get, "/api/v1/me", token: pak).status == (isFull ? 200 : 403),
            sourceLocation: sourceLocation)
        return isFull
    }

    private func refreshed(_ tokens: Tokens) throws -> Tokens {
        try Tokens(scene.refresh(tokens.refresh, by: own))
    }

    private func newestOwner() throws -> String {
        try scene.app.column("SELECT CAST(user_id AS CHAR) FROM devices ORDER BY id DESC LIMIT 1")[0]
    }

    @Test func afterAPromotionTheyOpenNextToNothing() throws {
        let tokens = try scene.signIn(own, as: phone)
        #expect(try isFull(tokens))
        try scene.promote(phone)
        #expect(try !isFull(tokens))
        #expect(try !isFull(refreshed(tokens)))
        #expect(try newestOwner() == "\(phone.userID)")
        // Who signs in again is not the thief.
        #expect(try isFull(scene.signIn(own, as: phone)))
    }

    @Test func aNewAuthorizationFreesTheDeviceThatTheyBound() throws {
        let tokens = try scene.signIn(own, as: phone)
        try scene.promote(phone)
        let number = scene.next()
        let bound = exchange(tokens, on: number)
        #expect(try !isFull(bound))
        let secret = try #require(bound["device_secret"]?.string)
        // Neither do they, nor another application.
        #expect(try !isFull(exchange(tokens, on: number, secret: secret)))
        for isFirstParty in [false, true] {
            let other = try scene.signIn(scene.register("Other", firstParty: isFirstParty), as: phone)
            #expect(try !isFull(exchange(other, on: number, secret: secret)))
        }
        let again = try scene.signIn(own, as: phone)
        #expect(exchange(again, on: number, secret: "ds_wrong").error == "invalid_device_secret")
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE application_id = ?", own.id) == 1)
        #expect(try isFull(exchange(again, on: number, secret: secret)))
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE application_id = ?", own.id) == 0)
        // What was issued before opens no more than it did.
        #expect(try !isFull(bound))
    }

    @Test func norDoTheyOpenTheAccountThatTheirsWasSwappedInto() throws {
        let bea = try scene.person("bea")
        let other = try scene.register("Other", firstParty: true)
        let beas = try scene.signIn(other, as: bea)
        let tokens = try scene.signIn(own, as: phone)
        #expect(try isFull(tokens))
        try scene.swap(phone, into: "bea")
        #expect(try !isFull(tokens))
        #expect(try !isFull(refreshed(tokens)))
        #expect(try newestOwner() == "\(bea.userID)")
        #expect(try isFull(beas))
        // Under the grant that was moved.
        let again = try scene.signIn(own, as: bea)
        #expect(try again.idClaims["sub"] == .string("\(phone.userID)"))
        #expect(try isFull(again))
    }

    @Test func anUndoneSwapLeavesThemAsTheyWere() throws {
        _ = try scene.person("bea")
        let tokens = try scene.signIn(own, as: phone)
        try scene.swap(phone, into: "bea")
        scene.app.time.advance(by: .seconds(1))
        #expect(try !isFull(tokens))
        try scene.app.undo(scene.app.newestSwap())
        #expect(try isFull(refreshed(tokens)))
        #expect(try newestOwner() == "\(phone.userID)")
    }

    /// A code and an approved device code live on.
    @Test(arguments: [false, true]) func norDoesWhatWaitedMeanwhile(isSwapped: Bool) throws {
        _ = try scene.person("bea")
        let code = try scene.code(own, as: phone)
        let device = try scene.device(own)
        try #require(scene.decide("approve", device, as: phone).status == 200)
        if isSwapped { try scene.swap(phone, into: "bea") } else { try scene.promote(phone) }
        #expect(try !isFull(Tokens(scene.exchange(code, by: own))))
        #expect(try !isFull(Tokens(scene.poll(device, by: own))))
    }

    /// The release before does not write how a family began.
    @Test func whatIsUnknownIsDecidedByTheAccount() throws {
        let bea = try scene.person("bea")
        let cid = try scene.anonymous()
        let tokens = try scene.signIn(own, as: phone)
        let beas = try scene.signIn(own, as: bea)
        let swapped = try scene.signIn(own, as: cid)
        try scene.app.change("UPDATE refresh_families SET from_anonymous = NULL")
        #expect(try isFull(tokens))
        try scene.promote(phone)
        #expect(try !isFull(tokens))
        #expect(try isFull(beas))
        _ = try scene.person("dan", email: nil)
        try scene.swap(cid, into: "dan")
        #expect(try !isFull(swapped))
    }
}
