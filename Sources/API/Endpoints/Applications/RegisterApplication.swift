import Accounts
import HTTP

/// The secrets are shown only here.
private struct RegistrationReply: Encodable {
    let id: Application.ID
    let clientID: String
    let clientType: String
    let tokenEndpointAuthMethod: String
    let redirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    let clientSecret: String?
    let webhookKey: WebhookKeyReply

    init(_ registration: Registration) {
        let application = registration.application
        id = application.id
        clientID = application.clientID
        clientType = application.clientType.rawValue
        tokenEndpointAuthMethod = application.clientType.authenticationMethod
        redirectURIs = application.redirectURIs
        allowedScopes = application.allowedScopes.names
        status = application.status.rawValue
        clientSecret = registration.clientSecret
        webhookKey = WebhookKeyReply(registration.webhookKey)
    }
}

/// `POST /api/v1/applications` (accounts §2.1).
@Sendable func registerApplication(_ call: Call, _ developer: Developer) throws -> Response {
    let (changes, clientType) = try call.decodeApplication().makeNew()
    let new = try call.approve(changes)
    return try call.commit { transaction in
        let registration = try call.accounts.registerApplication(new, clientType, by: developer.caller, in: transaction)
        return .json(.created, RegistrationReply(registration))
    }
}
