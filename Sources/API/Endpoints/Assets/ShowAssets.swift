import Accounts
import HTTP
import Pages

/// `GET /oauth/icon.svg`: the icon of all pages.
@Sendable func showIcon(_ call: Call, _: Anyone) -> Response { .asset(Drawing.icon, query: call.request.query) }

/// `GET /oauth/style.css`: the style sheet of all pages.
@Sendable func showStyleSheet(_ call: Call, _: Anyone) -> Response {
    .asset(call.service.brand.styleSheet, query: call.request.query)
}

/// `GET /oauth/logo`: the operator's logo, if there is one.
@Sendable func showLogo(_ call: Call, _: Anyone) throws -> Response {
    guard let logo = call.service.brand.logo else { throw Failure.notFound }
    var response = Response.asset(logo, query: call.request.query)
    // Somebody may open the file itself.
    response.headers.append(
        HeaderField("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"))
    return response
}

/// `GET /oauth/errors` (accounts §0.2): what every error code means.
@Sendable func showErrorCodes(_ call: Call, _: Anyone) -> Response { .page(ErrorCodesPage(), in: call.language) }
