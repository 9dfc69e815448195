import Fetch
import TestSupport
import Testing

/// A key and a certificate of its own for id.example.com.
func makeCertificate(_ folder: String) throws {
    let outcome = try ChildProcess.run(
        "/usr/bin/openssl",
        [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=id.example.com", "-keyout", folder + "/privkey.pem", "-out", folder + "/fullchain.pem",
        ])
    #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
}

extension Fetcher.Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Checks the headers that nginx's own answers share with the responder's.
func expectOwnHeaders(
    _ header: (String) -> String?, _ type: String = "application/json",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(header("content-type") == type, sourceLocation: sourceLocation)
    #expect(header("cache-control") == "no-store", sourceLocation: sourceLocation)
    #expect(header("x-request-id")?.count == 32, sourceLocation: sourceLocation)
    #expect(header("x-logi-request-id") == header("x-request-id"), sourceLocation: sourceLocation)
    #expect(header("server") == "nginx", sourceLocation: sourceLocation)
    #expect(header("x-content-type-options") == "nosniff", sourceLocation: sourceLocation)
    #expect(header("referrer-policy") == "no-referrer", sourceLocation: sourceLocation)
}
