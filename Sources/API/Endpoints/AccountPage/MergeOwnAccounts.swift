import Accounts
import Database
import HTTP
import Pages
import SignInClaims
import Text

/// `GET /account/merge` (accounts §4.8): the ways to sign in to the other account.
@Sendable func chooseAccountToMerge(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    if visitor.user.anonymous { return .account(.anonymous) }
    return try call.choicesForTrip(.merge, call.webProviders, of: visitor)
}

/// `GET /account/merge/{provider}`: shows both accounts and what moves, and asks.
@Sendable func askToMerge(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    guard let proof = try call.proof(of: .merge, visitor) else { return .account(.tripGone) }
    do {
        let (absorbed, preview) = try call.database.snapshot { connection in
            try call.accounts.previewMerge(ofHolderOf: proof.token, by: visitor.caller, connection)
        }
        let page = MergeQuestionPage(
            into: ShownUser(visitor.user), from: ShownUser(absorbed), provenBy: proof.shown,
            moves: MergeQuestionPage.Moves(preview.counts), hasChanged: call.queryParameters["changed"] != nil,
            form: call.accountForm(of: visitor, query: proof.query, .init("plan", preview.plan)))
        return .page(page, of: visitor, call)
    } catch let failure as Failure {
        guard let notice = AccountPage.Notice(failure) else { throw failure }
        return .account(notice)
    }
}

/// `POST /account/merge/{provider}` (accounts §3.1, §4.8). If something else would move now than was shown, that is shown
/// first.
@Sendable func mergeOwnAccounts(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    guard let plan = try call.form.value("plan") else { throw ErrorPage.Problem.invalidRequest }
    do {
        return try call.changeAccount { transaction in
            guard let proof = try call.takeProof(of: .merge, visitor, transaction) else { return .tripGone }
            let link = try call.accounts.mergeHolder(
                of: proof.token, .plan(anyOf: [plan]), by: visitor.caller, in: transaction)
            try transaction.uniteRecords(by: link)
            return .merged
        }
    } catch Failure.planChanged {
        let handle = PercentEncoding.encode(call.queryParameters["h"] ?? "")
        return .redirect(.seeOther, to: "\(call.request.path)?h=\(handle)&changed=1")
    }
}

extension MergeQuestionPage.Moves {
    fileprivate init(_ counts: MergeCounts) {
        self.init(
            methods: counts.identities, devices: counts.devices, apps: counts.grants, agents: counts.agents,
            approvals: counts.agentApprovals, signIns: counts.notifications)
    }
}
