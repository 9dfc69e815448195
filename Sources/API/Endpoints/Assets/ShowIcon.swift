import HTTP
import Pages

/// `GET /oauth/icon.svg`: the emblem of windows that show a page.
@Sendable func showIcon(_ call: Call, _: Anyone) -> Response { .asset(Drawing.icon, query: call.request.query) }
