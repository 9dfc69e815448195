import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import Logging
import Pages
import Text

/// `POST /auth/{provider}/web/callback` (accounts §2.4): the provider's answer, which the browser posts from the
/// provider's page. The request has no cookie, so the browser is checked only at `finish`.
@Sendable func receiveProviderAnswer(_ call: Call, _: Anyone) throws -> Response {
    let (provider, _, _) = try call.webProvider()
    let form = call.form
    let trip = try form.value("state").flatMap { state in
        try call.database.find { try call.accounts.trip(state: state, to: provider, $0) }
    }
    guard let trip else { throw ErrorPage.Problem.expired }
    let outcome = try outcome(of: trip, provider, form, call)
    return try call.commit { transaction in
        guard let handle = try call.accounts.answer(trip, with: outcome, transaction) else {
            throw ErrorPage.Problem.expired
        }
        return .redirect(.seeOther, to: "/auth/\(provider.rawValue)/web/finish?h=\(handle)")
    }
}

private func outcome(
    of trip: ProviderTrip, _ provider: Provider, _ form: Form, _ call: Call
) throws -> ProviderTrip.Outcome {
    if let error = try form.value("error") {
        return .failed(["access_denied", "user_cancelled_authorize"].contains(error) ? .cancelled : .rejected)
    }
    do {
        let token = try call.verify(try form.value("id_token"), trip.rawNonce, provider)
        try call.exchangeAppleCode(
            try form.value("code"), with: token, redirectURI: call.callbackURL(of: provider))
        let name = provider == .apple ? try form.value("user").flatMap(appleName) : token.name.map(googleName)
        return .proved(token, name.flatMap { $0.fits ? $0 : nil })
    } catch Failure.temporarilyUnavailable {
        return .failed(.unavailable)
    } catch let failure as Failure {
        call.logger.notice(
            "identity token refused", metadata: ["provider": "\(provider.rawValue)", "reason": "\(failure)"])
        return .failed(.rejected)
    }
}

/// The name that Apple sends at a user's first sign-in.
private func appleName(_ user: String) -> PersonName {
    let name = (try? JSONValue(json: Array(user.utf8)))?["name"]
    return PersonName(givenName: name?["firstName"]?.string, familyName: name?["lastName"]?.string)
}

/// Both parts of the name; if one is missing, the whole name as the given name.
private func googleName(_ name: IdentityToken.Name) -> PersonName {
    guard name.whole.isBlank || !name.given.isBlank && !name.family.isBlank else {
        return PersonName(givenName: name.whole, familyName: nil)
    }
    return PersonName(givenName: name.given, familyName: name.family)
}
