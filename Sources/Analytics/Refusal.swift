/// What the analytics specification refuses. The texts are the specification's and stand beside the rules that throw
/// them. `Response.refusal` chooses the status and the shape of each answer.
package enum Refusal: Error, Equatable {
    /// The request breaks a rule.
    case invalid(String)
    /// The same, with a reason for programs.
    case rejected(String, reason: String)
    /// The key may not do this.
    case forbidden(String)
    /// The thing does not exist, or the key may not see it.
    case notFound(String)
    /// The request conflicts with the current state. Has a reason for programs.
    case conflict(String, reason: String)
    /// The thing existed once, and no longer does.
    case gone(String)
    /// The credential is missing or unknown.
    case unauthorized(String)
    /// A refused reservation or upload, with its own code.
    case attachment(AttachmentRejection)
    /// The ad network's answer. The status is 0 if the network did not answer.
    case upstream(status: Int, message: String)
    /// The attachment store failed.
    case uploadFailed
    case temporarilyUnavailable
}
