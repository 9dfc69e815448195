import HTTP

extension Response {
    /// The answer to a CORS preflight request (Fetch §3.2): every origin may call, without credentials.
    static let preflight = Response(
        .noContent,
        headers: [
            HeaderField("Access-Control-Allow-Methods", "GET, HEAD, POST"),
            HeaderField("Access-Control-Allow-Headers", "Authorization, Content-Type"),
            HeaderField("Access-Control-Max-Age", "86400"),
        ]
    ).readableByOtherOrigins

    /// Adds the header that lets scripts of any origin read the answer.
    var readableByOtherOrigins: Response {
        var response = self
        response.headers.append(HeaderField("Access-Control-Allow-Origin", "*"))
        return response
    }
}
