import HTTP

/// `GET /oauth/style.css`: how every page looks.
@Sendable func showStyleSheet(_ call: Call, _: Anyone) -> Response {
    StyleSheet.asset.response(query: call.request.query)
}
