import HTTP
import Pages

/// `GET /oauth/icon.svg`: the icon of all pages.
@Sendable func showIcon(_ call: Call, _: Anyone) -> Response { .asset(Drawing.icon, query: call.request.query) }
