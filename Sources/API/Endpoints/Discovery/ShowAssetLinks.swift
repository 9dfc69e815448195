import Accounts
import HTTP

/// One statement of Google's Digital Asset Links: the app may open this server's links.
private struct AssetLink: Encodable {
    struct Target: Encodable {
        let namespace = "android_app"
        let packageName: String
        let sha256CertFingerprints: [String]
    }

    let relation = ["delegate_permission/common.handle_all_urls"]
    let target: Target
}

/// `GET /.well-known/assetlinks.json` (accounts §2.12); 404 if no app is configured.
@Sendable func showAssetLinks(_ call: Call, _: Anyone) throws -> Response {
    guard let app = call.service.ownApps.android else { throw Failure.notFound }
    return .json(
        .ok,
        [
            AssetLink(
                target: .init(packageName: app.packageName, sha256CertFingerprints: app.certificateFingerprints))
        ],
        headers: [.publicForAnHour])
}
