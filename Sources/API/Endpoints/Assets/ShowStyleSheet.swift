import HTTP
import Pages

/// `GET /oauth/style.css`: how every page looks.
@Sendable func showStyleSheet(_ call: Call, _: Anyone) -> Response {
    .asset(StyleSheet.asset, query: call.request.query)
}
