import Accounts
import Analytics
import HTTP

/// One line of the route table.
struct Route: Sendable {
    let method: Method
    /// A segment in braces matches any non-empty segment: `/auth/{provider}/session`.
    let pattern: String
    /// Who may call it.
    let requirement: Requirement
    /// The credential that identifies a repeated request; nil if the endpoint accepts no Idempotency-Key.
    let replay: ReplayScope?
    /// Whether scripts of any origin may call the route, without the browser's credentials (accounts §2.12).
    let isCrossOrigin: Bool
    /// Whether browsers show the answers to people. If so, a refusal is a page, unless the client prefers JSON.
    let isPage: Bool
    private let handle: @Sendable (Call) throws -> Response

    /// - Parameter handler: gets the credential's principal, so it cannot run without it.
    init<Principal>(
        _ method: Method, _ pattern: String, _ credential: Credential<Principal>, replay: ReplayScope? = nil,
        crossOrigin: Bool = false, page: Bool = false,
        _ handler: @escaping @Sendable (Call, Principal) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        requirement = credential.requirement
        self.replay = replay
        isCrossOrigin = crossOrigin
        isPage = page
        handle = { call in try handler(call, try credential.check(call)) }
    }

    /// A route whose rule reads the caller while it locks them. What is refused stands only if the credential does, which is
    /// checked before a refusal as it would be before the handler.
    init(
        _ method: Method, _ pattern: String, _ credential: Credential<PresentedPAK>, replay: ReplayScope? = nil,
        _ handler: @escaping @Sendable (Call, PresentedPAK) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        requirement = credential.requirement
        self.replay = replay
        isCrossOrigin = false
        isPage = false
        handle = { call in
            guard let pak = call.presentedPAK(credential.requirement) else {
                return try handler(call, try credential.check(call))
            }
            let answer = Result { try handler(call, pak) }
            switch answer {
            case .success(let response) where pak.caller != nil: return response
            // The check would find no more.
            case .failure(let error) where Responder.isUnavailability(error): throw error
            default: break
            }
            let read = try credential.check(call)
            if case .failure(is UnconfirmedCaller) = answer { return try handler(call, read) }
            return try answer.get()
        }
    }

    /// A route with pages that handles its credential itself.
    init<Principal>(
        _ method: Method, _ pattern: String, _ credential: Credential<Principal>, page: Bool,
        answering handle: @escaping @Sendable (Call) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        requirement = credential.requirement
        replay = nil
        isCrossOrigin = false
        isPage = page
        self.handle = handle
    }

    /// A route of the analytics surface. The body is checked after the credential (analytics §2.3). Only a POST body is
    /// read here; an upload (PUT) reads its own.
    init(
        _ method: Method, _ pattern: String, _ credential: Credential<APIKey>,
        _ handler: @escaping @Sendable (Call, APIKey) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        requirement = credential.requirement
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

    /// The same for a rule whose first statement confirms a remembered key. Then the body is read before the key.
    init(
        _ method: Method, _ pattern: String, _ credential: Credential<KeyProof>,
        _ handler: @escaping @Sendable (Call, KeyProof) throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        requirement = credential.requirement
        replay = nil
        isCrossOrigin = false
        isPage = false
        handle = { call in
            guard let proof = call.rememberedKey(credential.requirement) else {
                let proof = try credential.check(call)
                call.body = try call.readAnalyticsBody()
                return try handler(call, proof)
            }
            let answer = Result {
                call.body = try call.readAnalyticsBody()
                return try handler(call, proof)
            }
            if proof.isConfirmed { return try answer.get() }
            // Nothing has been written. What is refused, for the key as it was or for the body, stands only if the key does.
            switch answer {
            case .failure(let error) where error is KeyChanged || error is Refusal:
                return try handler(call, try credential.check(call))
            case .failure(let error) where !(error is UnusableBody): throw error
            default:
                _ = try credential.check(call)
                return try answer.get()
            }
        }
    }

    func respond(to call: Call) throws -> Response { try handle(call) }
}
