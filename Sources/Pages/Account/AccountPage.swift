/// A person's own account: who they are, what belongs to it, and what they can do with it (accounts §4.8).
package struct AccountPage: WebPage {
    /// What became of what was asked for a moment ago. The raw values stand in URLs.
    package enum Notice: String, CaseIterable, Sendable {
        case methodAdded = "method_added"
        case methodRemoved = "method_removed"
        case deviceRemoved = "device_removed"
        case appDisconnected = "app_disconnected"
        case agentRevoked = "agent_revoked"
        case merged
        /// No other way to sign in would remain.
        case lastMethod = "last_method"
        /// It is not there any more.
        case gone
        /// An account without a way to sign in cannot do this.
        case anonymous
        /// There is a way to sign in with every provider.
        case noOtherMethod = "no_other_method"
        /// There is a way to sign in with this provider.
        case providerConnected = "provider_connected"
        /// What a trip to a provider brought back is gone, or not this user's.
        case tripGone = "trip_gone"
        /// The person turned back at the provider.
        case cancelled
        /// The provider's answer was not to be believed.
        case failed
        /// The provider's keys are not to be had.
        case unavailable
        case alreadyYours = "already_yours"
        case ownedByAnother = "owned_by_another"
        case otherDeleted = "other_deleted"
        /// More than one merge moves, or than an export may have.
        case tooLarge = "too_large"
        /// No account can be signed in to that way.
        case nobody

        /// Whether nothing was changed.
        var isRefusal: Bool {
            switch self {
            case .methodAdded, .methodRemoved, .deviceRemoved, .appDisconnected, .agentRevoked, .merged: false
            case .lastMethod, .gone, .anonymous, .noOtherMethod, .providerConnected, .tripGone, .cancelled, .failed,
                .unavailable, .alreadyYours, .ownedByAnother, .otherDeleted, .tooLarge, .nobody:
                true
            }
        }
    }

    var account: ShownUser
    var methods: [SignInMethod]
    var devices: [ShownDevice]
    var apps: [ShownApp]
    /// Whether there is a provider that the account cannot be signed in to with yet.
    var addsMethods: Bool
    var isAnonymous: Bool
    var notice: Notice?

    package let width = PageWidth.article

    package init(
        account: ShownUser, methods: [SignInMethod], devices: [ShownDevice], apps: [ShownApp], addsMethods: Bool,
        isAnonymous: Bool, notice: Notice? = nil
    ) {
        self.account = account
        self.methods = methods
        self.devices = devices
        self.apps = apps
        self.addsMethods = addsMethods
        self.isAnonymous = isAnonymous
        self.notice = notice
    }

    package func title(in texts: any Texts) -> String {
        notice?.isRefusal == true ? "\(texts.errorPrefix): \(texts.account.title)" : texts.account.title
    }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(texts.account.title)</h1>
        \(notice.map { said($0, texts) })
        <div class="owner">
        \(account.html(in: texts))
        <a class="act" href="/session/logout">\(texts.signOut)</a>
        </div>
        \(section(texts.account.methods, rows(methods, texts), otherwise: texts.account.noMethods,
            link: addsMethods ? (texts.account.addMethod, "/account/link") : nil))
        \(section(texts.account.devices, rows(devices, texts), otherwise: texts.account.noDevices))
        \(section(texts.account.apps, rows(apps, texts), otherwise: texts.account.noApps))
        \(offer(
            texts.account.history, texts.account.historyIntroduction, (texts.account.historyLink, "/account/history")))
        \(offer(texts.account.agents, texts.account.agentsIntroduction, (texts.account.agentsLink, "/account/agents")))
        \(isAnonymous ? nil : offer(
            texts.account.otherAccount, texts.account.mergeIntroduction, (texts.account.merge, "/account/merge")))
        \(offer(texts.account.export, texts.account.exportIntroduction, (texts.account.exportButton, "/account/export")))
        \(offer(
            texts.account.deletion, texts.account.deletionIntroduction, (texts.account.deletion, "/account/delete")))
        """
    }

    private func said(_ notice: Notice, _ texts: any Texts) -> HTML {
        let text = texts.account.notice(notice)
        return notice.isRefusal
            ? alert(text) : "<p class=\"success\" role=\"status\">\(Drawing.check)<span>\(text)</span></p>"
    }

    /// - Parameters:
    ///   - empty: what is said instead of a list without lines.
    ///   - link: leads to more that can be done.
    private func section(
        _ heading: String, _ rows: [AccountRow], otherwise empty: String, link: (text: String, href: String)? = nil
    ) -> HTML {
        """
        <section>
        <h2>\(heading)</h2>
        \(rows.isEmpty ? "<p class=\"note\">\(empty)</p>" : rows.html)
        \(link.map { more($0.text, $0.href) })
        </section>
        """
    }

    private func more(_ text: String, _ href: String) -> HTML {
        "<p class=\"more\"><a class=\"act\" href=\"\(href)\">\(text)</a></p>"
    }

    /// What has a page of its own.
    private func offer(_ heading: String, _ introduction: String, _ link: (text: String, href: String)) -> HTML {
        """
        <section>
        <h2>\(heading)</h2>
        <p class="note">\(introduction)</p>
        \(more(link.text, link.href))
        </section>
        """
    }

    private func rows(_ methods: [SignInMethod], _ texts: any Texts) -> [AccountRow] {
        methods.map { method in
            let name = providerName(method.provider)
            let facts = [
                texts.account.addresses(method.addresses), texts.account.added(texts.account.date(method.since)),
            ]
            return AccountRow(
                title: "\(name)",
                facts: facts.compactMap { $0 } + (methods.count == 1 ? ["\(texts.account.onlyMethod)"] : []),
                link: methods.count == 1
                    ? nil
                    : (
                        texts.account.remove, texts.account.removeLabel(name),
                        "/account/methods/\(method.provider)/remove"
                    ))
        }
    }

    private func rows(_ devices: [ShownDevice], _ texts: any Texts) -> [AccountRow] {
        devices.map { device in
            let name = texts.account.name(of: device)
            return AccountRow(
                title: "\(name) <small>\(device.shortID)</small>", facts: texts.account.facts(of: device, texts),
                link: isAnonymous
                    ? nil
                    : (
                        texts.account.remove, texts.account.removeLabel("\(name) \(device.shortID)"),
                        "/account/devices/\(device.id)/remove"
                    ))
        }
    }

    private func rows(_ apps: [ShownApp], _ texts: any Texts) -> [AccountRow] {
        apps.map { app in
            AccountRow(
                title: texts.name(app.name),
                facts: [
                    "\(distinct(app.scopes.map(texts.scope)).joined(separator: " · "))",
                    texts.account.connected(texts.account.date(app.since)),
                ] + (app.lastUsed.map { [texts.account.lastUsed(texts.account.date($0))] } ?? []),
                link: (
                    texts.account.disconnect, texts.account.disconnectLabel(app.name),
                    "/account/apps/\(app.clientID)/disconnect"
                ))
        }
    }
}

extension AccountTexts {
    func facts(of device: ShownDevice, _ texts: any Texts) -> [HTML] {
        let application = device.application.map { [madeBy(texts.name($0))] } ?? []
        return application + [lastUsed(date(device.lastSeen)), added(date(device.since))]
    }
}
