import HTTP
import Pages

extension Response {
    /// An HTML page with the header fields of accounts §2.4.
    ///
    /// - Parameter formTarget: where a form of the page may redirect to, besides this server.
    static func page(
        _ page: some WebPage, _ status: Status = .ok, in edition: Edition, formTarget: FormTarget? = nil,
        headers: [HeaderField] = []
    ) -> Response {
        Response(
            status,
            headers: [
                HeaderField("Content-Type", "text/html; charset=utf-8"),
                HeaderField("Content-Language", edition.language.rawValue),
                HeaderField("Content-Security-Policy", contentSecurityPolicy(formTarget)),
                HeaderField("Referrer-Policy", "no-referrer"),
                HeaderField("X-Content-Type-Options", "nosniff"),
                HeaderField("Cache-Control", "no-store"),
            ] + headers,
            body: Array(page.document(in: edition).markup.utf8))
    }

    private static func contentSecurityPolicy(_ formTarget: FormTarget?) -> String {
        let source = formTarget.map { " \($0.source)" } ?? ""
        return "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
            + "form-action 'self'\(source)"
    }
}

extension Call {
    /// The pages in the language that the browser prefers, with the operator's brand.
    var language: Edition {
        Edition(Language(accepting: request.headers.first("accept-language")), of: service.brand)
    }
}
