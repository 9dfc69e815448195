/// What the analytics specification refuses. The texts are the specification's; they stand beside the rules that throw
/// them.
package enum Refusal: Error, Equatable {
    /// 400, shape A.
    case invalid(String)
    /// 400 with a `reason` member.
    case rejected(String, reason: String)
    /// 403, shape A.
    case forbidden(String)
    /// 404, shape A.
    case notFound(String)
    /// 409 with a `reason` member.
    case conflict(String, reason: String)
    /// 410, shape A.
    case gone(String)
    /// 401, shape A.
    case unauthorized(String)
    /// Shape B: `code` and `message`, with members of the case's own.
    case attachment(AttachmentRejection)
    /// 502: what the ad network answered; a status of 0 stands for no answer at all.
    case upstream(status: Int, message: String)
    /// 500, shape A: the attachment store failed.
    case uploadFailed
    /// 503, shape A.
    case temporarilyUnavailable
}
