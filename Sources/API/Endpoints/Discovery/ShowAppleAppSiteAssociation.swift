import Accounts
import HTTP

/// The document of Apple's associated domains: which of this server's paths open in the app.
private struct AppleAppSiteAssociation: Encodable {
    struct AppLinks: Encodable {
        let details: [Detail]
    }

    struct Detail: Encodable {
        let appIDs: [String]
        let components: [[String: String]]

        private enum CodingKeys: String, CodingKey {
            case appIDs, components
        }
    }

    let applinks: AppLinks
}

/// `GET /.well-known/apple-app-site-association` (accounts §2.12); 404 if no app is configured.
@Sendable func showAppleAppSiteAssociation(_ call: Call, _: Anyone) throws -> Response {
    let appIDs = call.service.ownApps.appleAppIDs
    if appIDs.isEmpty { throw Failure.notFound }
    let components = ["/oauth/authorize", "/oauth/device", "/oauth/qr/*", "/push/*"].map { ["/": $0] }
    return .json(
        .ok,
        AppleAppSiteAssociation(applinks: .init(details: [.init(appIDs: appIDs, components: components)])),
        headers: [.publicForAnHour])
}
