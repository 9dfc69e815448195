package import Time

/// What agents asked an account's user, and what became of it (accounts §4.1, §4.8), newest first. Nothing is decided here:
/// the app does that, with its own credentials.
package struct ApprovalsPage: WebPage {
    package struct Approval: Equatable, Sendable {
        package var title: String
        package var body: String
        package var action: String
        package var agent: String
        /// As the interface names it.
        package var status: String
        package var askedAt: Timestamp
        /// Nil unless it waits for a decision.
        package var openUntil: Timestamp?
        package var decidedAt: Timestamp?

        package init(
            title: String, body: String, action: String, agent: String, status: String, askedAt: Timestamp,
            openUntil: Timestamp?, decidedAt: Timestamp?
        ) {
            self.title = title
            self.body = body
            self.action = action
            self.agent = agent
            self.status = status
            self.askedAt = askedAt
            self.openUntil = openUntil
            self.decidedAt = decidedAt
        }
    }

    var approvals: [Approval]
    var paging: Paging

    package let width = PageWidth.article

    package init(_ approvals: [Approval], paging: Paging) {
        self.approvals = approvals
        self.paging = paging
    }

    package func title(in texts: any Texts) -> String { texts.account.approvals }

    package func content(in texts: any Texts) -> HTML {
        AccountList(
            heading: texts.account.approvals, introduction: texts.account.approvalsIntroduction,
            rows: approvals.map { row($0, texts) }, empty: texts.account.noApprovals, paging: paging,
            back: (texts.account.backToAgents, "/account/agents")
        ).html(in: texts)
    }

    private func row(_ approval: Approval, _ texts: any Texts) -> AccountRow {
        let times = [
            texts.account.asked(texts.account.dateAndTime(approval.askedAt)),
            approval.openUntil.map { texts.account.openUntil(texts.account.dateAndTime($0)) },
            approval.decidedAt.map { texts.account.decided(texts.account.dateAndTime($0)) },
        ].compactMap { $0 }
        return AccountRow(
            title: texts.name(approval.title),
            facts: [
                "<strong>\(texts.account.status(approval.status))</strong>",
                texts.account.askedBy(texts.name(approval.agent)),
                texts.account.action("<bdi>\(approval.action)</bdi>"),
            ] + times,
            more: approval.body.isEmpty ? nil : (texts.account.approvalBody, approval.body))
    }
}
