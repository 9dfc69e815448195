import HTTP
import Pages

/// `GET /oauth/icon.svg`: the icon of all pages.
@Sendable func showIcon(_ call: Call, _: Anyone) -> Response { .asset(Drawing.icon, query: call.request.query) }

/// `GET /oauth/style.css`: the style sheet of all pages.
@Sendable func showStyleSheet(_ call: Call, _: Anyone) -> Response {
    .asset(StyleSheet.asset, query: call.request.query)
}

/// `GET /oauth/errors` (accounts §0.2): what every error code means.
@Sendable func showErrorCodes(_ call: Call, _: Anyone) -> Response { .page(ErrorCodesPage(), in: call.language) }
