package import Time

/// When and how somebody signed in to an account, or was refused (accounts §4.3, §4.8), newest first.
package struct SignInHistoryPage: WebPage {
    package struct Entry: Equatable, Sendable {
        /// As the login history names it; a later release may have written others.
        package var event: String
        package var provider: String?
        package var address: String?
        package var userAgent: String?
        package var platform: String?
        package var at: Timestamp

        package init(
            event: String, provider: String?, address: String?, userAgent: String?, platform: String?, at: Timestamp
        ) {
            self.event = event
            self.provider = provider
            self.address = address
            self.userAgent = userAgent
            self.platform = platform
            self.at = at
        }
    }

    var entries: [Entry]
    var paging: Paging

    package let width = PageWidth.article

    package init(_ entries: [Entry], paging: Paging) {
        self.entries = entries
        self.paging = paging
    }

    package func title(in texts: any Texts) -> String { texts.account.history }

    package func content(in texts: any Texts) -> HTML {
        AccountList(
            heading: texts.account.history, introduction: texts.account.historyEffect, rows: rows(texts),
            empty: texts.account.noHistory, paging: paging, back: (texts.account.back, "/account")
        ).html(in: texts)
    }

    private func rows(_ texts: any Texts) -> [AccountRow] {
        entries.map { entry in
            let platform = entry.platform.map { platform -> HTML in "\(texts.account.platform(platform))" }
            let address = entry.address.map { address -> HTML in "<bdi>\(address)</bdi>" }
            let separator: HTML? = platform == nil || address == nil ? nil : " · "
            let program = entry.userAgent.map { agent -> HTML in "<bdi>\(agent)</bdi>" }
            return AccountRow(
                title: "\(texts.account.event(entry.event, entry.provider.map(providerName)))",
                facts: [
                    texts.account.dateAndTime(entry.at),
                    platform ?? address == nil ? nil : "\(platform)\(separator)\(address)", program,
                ].compactMap { $0 })
        }
    }
}
