import HTTP
import Pages

/// `GET /oauth/errors` (accounts §0.2): what every error code means.
@Sendable func showErrorCodes(_ call: Call, _: Anyone) -> Response { .page(ErrorCodesPage(), in: call.language) }
