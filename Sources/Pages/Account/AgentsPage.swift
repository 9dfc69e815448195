/// The programs that may ask an account's user for approval (accounts §4.1, §4.8), newest first.
package struct AgentsPage: WebPage {
    var agents: [AccountAgent]

    package let width = PageWidth.article

    package init(_ agents: [AccountAgent]) { self.agents = agents }

    package func title(in texts: any Texts) -> String { texts.account.agents }

    package func content(in texts: any Texts) -> HTML {
        let rows = agents.map { agent in
            AccountRow(
                title: texts.name(agent.name), facts: agent.facts(in: texts),
                link: (
                    texts.account.revoke, texts.account.revokeLabel(agent.name), "/account/agents/\(agent.id)/revoke"
                ))
        }
        return AccountList(
            heading: texts.account.agents, introduction: texts.account.agentsEffect, rows: rows,
            empty: texts.account.noAgents, more: (texts.account.approvalsLink, "/account/approvals"),
            back: (texts.account.back, "/account")
        ).html(in: texts)
    }
}
