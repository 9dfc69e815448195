import Accounts
import HTTP
import JSON
import Logging
import Mail
import Pages

private struct IssueMergeOTPRequest: Decodable {
    var targetUserID: Int64?
    var targetEmail: String?
}

private struct IssueMergeOTPReply: Encodable {
    var ok = true
    /// Seconds.
    var expiresIn = MergeOTP.lifetime.components.seconds
}

/// `POST /api/v1/me/merge/otp` (accounts §3.1): a code goes to the account that the caller wants to absorb. The answer is the
/// same whether there is such an account or not.
@Sendable func issueMergeOTP(_ call: Call, _ requester: IdentifiedCaller) throws -> Response {
    let body = try call.decode(IssueMergeOTPRequest.self)
    guard let target = try MergeTarget(id: body.targetUserID, email: body.targetEmail) else {
        throw Failure.invalidRequest
    }
    var delivery: MergeOTP.Delivery?
    var response = try call.commit { transaction in
        switch try call.accounts.issueMergeOTP(for: target, to: requester.caller, in: transaction) {
        case .success(let issued):
            delivery = issued
            return .json(.accepted, IssueMergeOTPReply())
        case .failure(let failure):
            delivery = nil
            return call.surface.refusal(failure)
        }
    }
    if let delivery { response.afterwards = call.sending(delivery) }
    return response
}

extension MergeTarget {
    /// Nil when nobody is named.
    ///
    /// - Throws: `invalidRequest` when both name somebody.
    init?(id: Int64?, email: String?) throws {
        switch (id, email.flatMap { $0.isEmpty ? nil : $0 }) {
        case (nil, nil): return nil
        case (let id?, nil): self = .user(User.ID(rawValue: id))
        case (nil, let email?): self = .email(email)
        case (.some, .some): throw Failure.invalidRequest
        }
    }
}

extension Call {
    /// Leaves the code to the thread that sends mail, in the language that the requester reads.
    fileprivate func sending(_ delivery: MergeOTP.Delivery) -> @Sendable () -> Void {
        { [logger, language, service] in
            guard let address = MailAddress(delivery.address) else {
                return logger.warning(
                    "mail was not sent", metadata: ["reason": "an address that mail cannot be sent to"])
            }
            let texts = language.texts
            service.mail?.submit(
                MailMessage(
                    to: address, subject: texts.mergeCodeSubject,
                    text: texts.mergeCode(delivery.code, at: service.accounts.settings.issuer)
                        + service.brand.signature(in: texts)),
                before: delivery.expiresAt)
        }
    }
}
