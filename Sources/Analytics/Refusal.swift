/// What the analytics specification refuses. The texts are the specification's; they stand beside the rules that throw
/// them. What status and shape each is answered with is `Response.refusal`'s to say.
package enum Refusal: Error, Equatable {
    /// A request that does not fit its rules.
    case invalid(String)
    /// The same, with a reason for programs.
    case rejected(String, reason: String)
    /// What this key may not do.
    case forbidden(String)
    /// What is not there, or not this key's.
    case notFound(String)
    /// What does not fit the state of things, with a reason for programs.
    case conflict(String, reason: String)
    /// What was there.
    case gone(String)
    /// Nobody who is known.
    case unauthorized(String)
    /// A reservation or an upload, with a code of the case's own.
    case attachment(AttachmentRejection)
    /// What the ad network answered; a status of 0 stands for no answer at all.
    case upstream(status: Int, message: String)
    /// The attachment store failed.
    case uploadFailed
    case temporarilyUnavailable
}
