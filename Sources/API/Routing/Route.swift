import Analytics
import HTTP

/// One line of the route table.
struct Route: Sendable {
    let method: Method
    /// Segments in braces match any one non-empty segment: `/auth/{provider}/session`.
    let pattern: String
    /// Which credential a repeated request is recognized by; nil: the endpoint takes no Idempotency-Key.
    let replay: ReplayScope?
    /// Whether scripts of any origin may call it, without credentials of the browser's (accounts §2.12).
    let isCrossOrigin: Bool
    /// Whether people see its answers: what goes wrong is told on a page, unless the client prefers JSON.
    let isPage: Bool
    private let handle: @Sendable (Call) throws -> Response

    /// - Parameter handler: gets the principal the credential stands for, and so cannot run without it.
    init<Principal>(
        _ method: Method, _ pattern: String, _ credential: Credential<Principal>, replay: ReplayScope? = nil,
        crossOrigin: Bool = false, page: Bool = false,
        _ handler: @escaping @Sendable (Call, Principal) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        self.replay = replay
        isCrossOrigin = crossOrigin
        isPage = page
        handle = { call in try handler(call, try credential.check(call)) }
    }

    /// A route of the analytics surface, whose body is judged after its credential was checked (analytics §2.3). Only POST
    /// has one that is read whole; an upload (PUT) reads its own.
    init(
        _ method: Method, _ pattern: String, _ credential: Credential<APIKey>,
        _ handler: @escaping @Sendable (Call, APIKey) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        replay = nil
        isCrossOrigin = false
        isPage = false
        handle = { call in
            let key = try credential.check(call)
            switch method {
            case .post: call.body = try call.readAnalyticsBody()
            case .put: break
            default: try call.refuseLargeAnalyticsBody()
            }
            return try handler(call, key)
        }
    }

    func respond(to call: Call) throws -> Response { try handle(call) }
}
