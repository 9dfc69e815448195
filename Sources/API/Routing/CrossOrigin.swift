import HTTP

extension Response {
    /// The answer to a script's question whether it may call (CORS, Fetch §3.2): any origin may, none with credentials.
    static let preflight = Response(
        .noContent,
        headers: [
            Field("Access-Control-Allow-Methods", "GET, HEAD, POST"),
            Field("Access-Control-Allow-Headers", "Authorization, Content-Type"),
            Field("Access-Control-Max-Age", "86400"),
        ]
    ).readableByOtherOrigins

    /// With the header that lets scripts of any origin read it.
    var readableByOtherOrigins: Response {
        var response = self
        response.headers.append(Field("Access-Control-Allow-Origin", "*"))
        return response
    }
}
