import HTTP
import Pages

/// `GET /oauth/style.css`: the style sheet of all pages.
@Sendable func showStyleSheet(_ call: Call, _: Anyone) -> Response {
    .asset(StyleSheet.asset, query: call.request.query)
}
