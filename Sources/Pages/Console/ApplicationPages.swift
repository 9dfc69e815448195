package import Time

/// An application as administrators see it: no secret.
package struct ConsoleApplication: Sendable, ConsoleParts {
    package enum Status: String, CaseIterable, Sendable {
        case pending, active, suspended
    }

    /// A setting that waits for approval.
    package struct Change: Sendable {
        var name: String
        /// What is in effect, line by line.
        var now: [String]
        var wanted: [String]

        package init(name: String, now: [String], wanted: [String]) {
            self.name = name
            self.now = now
            self.wanted = wanted
        }
    }

    package struct Flags: Sendable {
        var allowAnonymousGrants: Bool
        var firstParty: Bool
        var linkedSubDetails: Bool

        package init(allowAnonymousGrants: Bool, firstParty: Bool, linkedSubDetails: Bool) {
            self.allowAnonymousGrants = allowAnonymousGrants
            self.firstParty = firstParty
            self.linkedSubDetails = linkedSubDetails
        }
    }

    var clientID: String
    var name: String
    var type: String
    var status: Status
    /// The developer's id; nil: the operator.
    var owner: String?
    var redirectURIs: [String]
    var postLogoutRedirectURIs: [String]
    var scopes: [String]
    var appLink: String?
    var webhook: String?
    /// Since when nothing is sent to the webhook.
    var webhookDisabledAt: Timestamp?
    var flags: Flags
    var createdAt: Timestamp
    var changes: [Change]

    package init(
        clientID: String, name: String, type: String, status: Status, owner: String?, redirectURIs: [String],
        postLogoutRedirectURIs: [String], scopes: [String], appLink: String?, webhook: String?,
        webhookDisabledAt: Timestamp?, flags: Flags, createdAt: Timestamp, changes: [Change]
    ) {
        self.clientID = clientID
        self.name = name
        self.type = type
        self.status = status
        self.owner = owner
        self.redirectURIs = redirectURIs
        self.postLogoutRedirectURIs = postLogoutRedirectURIs
        self.scopes = scopes
        self.appLink = appLink
        self.webhook = webhook
        self.webhookDisabledAt = webhookDisabledAt
        self.flags = flags
        self.createdAt = createdAt
        self.changes = changes
    }

    var awaitsApproval: Bool { status == .pending || !changes.isEmpty }

    func facts(in texts: ConsoleTexts) -> [Fact] {
        [
            fact(texts.clientID, code(clientID)), fact(texts.status, "\(texts.statuses[status] ?? "")"),
            fact(texts.pendingChanges, changes.isEmpty ? nil : "\(changes.count)"), fact(texts.type, code(type)),
            fact(texts.owner, owner.map { link(toUser: $0, "\(texts.user) \($0)") } ?? "\(texts.theOperator)"),
            fact(texts.created, moment(createdAt)),
        ]
    }
}

/// All applications, newest first (accounts §4.7).
package struct ApplicationsPage: ConsolePage {
    package let section = ConsoleSection.applications
    var applications: [ConsoleApplication]
    var paging: Paging

    package init(applications: [ConsoleApplication], paging: Paging) {
        self.applications = applications
        self.paging = paging
    }

    package func heading(in texts: ConsoleTexts) -> String { texts.sections[.applications] ?? "" }

    package func body(in texts: ConsoleTexts) -> HTML {
        let items = applications.map { application -> HTML in
            """
            <h2 class="row"><a href="/admin/applications/\(application.clientID)">\(chosen(application.name))</a></h2>
            \(facts(application.facts(in: texts)))
            """
        }
        return "\(rows(items, empty: texts.none))\n\(paging.html(in: texts))"
    }
}

/// One application, and what an administrator decides about it.
package struct ApplicationPage: ConsolePage {
    package let section = ConsoleSection.applications
    package var isDone: Bool
    var application: ConsoleApplication
    /// Carries the revision that the page shows.
    var approve: PostForm
    var suspend: PostForm
    /// Gets the flags that are set.
    var flags: PostForm
    /// Only of a webhook that is disabled.
    var enable: PostForm

    package init(
        application: ConsoleApplication, approve: PostForm, suspend: PostForm, flags: PostForm, enable: PostForm,
        isDone: Bool
    ) {
        self.application = application
        self.approve = approve
        self.suspend = suspend
        self.flags = flags
        self.enable = enable
        self.isDone = isDone
    }

    package func heading(in texts: ConsoleTexts) -> String { application.name }

    package func body(in texts: ConsoleTexts) -> HTML {
        let afterSigningOut = application.postLogoutRedirectURIs
        let more: [Fact] = [
            fact(texts.redirectURIs, lines(application.redirectURIs)),
            fact(texts.postLogoutRedirectURIs, afterSigningOut.isEmpty ? nil : lines(afterSigningOut)),
            fact(texts.scopes, code(application.scopes.joined(separator: " "))),
            fact(texts.appLink, application.appLink.map(code)),
            fact(texts.webhook, application.webhook.map(code)),
            fact(texts.webhookDisabled, application.webhookDisabledAt.map(moment)),
        ]
        return """
            \(facts(application.facts(in: texts) + more))
            \(application.changes.isEmpty ? .empty : block(texts.pendingChanges, changes(in: texts)))\
            <div class="tiles changes">
            \(application.awaitsApproval ? approval(in: texts) : .empty)\
            \(application.webhookDisabledAt == nil ? .empty : enabling(in: texts))\
            \(block(texts.flags, flags.html(flagControls(in: texts))))\
            \(application.status == .suspended ? .empty : suspension(in: texts))</div>
            <p class="note">\(texts.freshSignIn)</p>
            """
    }

    private func lines(_ lines: [String]) -> HTML { "\(lines.map { "\(code($0))<br>" as HTML })" }

    private func changes(in texts: ConsoleTexts) -> HTML {
        let items = application.changes.map { change -> HTML in
            """
            <h3 class="row">\(code(change.name))</h3>
            \(facts([fact(texts.now, lines(change.now)), fact(texts.wanted, lines(change.wanted))]))
            """
        }
        return rows(items, empty: texts.none)
    }

    private func approval(in texts: ConsoleTexts) -> HTML {
        block(
            texts.approve,
            "<p>\(texts.approveEffect)</p>\n\(approve.html("<button class=\"button primary\">\(texts.approve)</button>"))"
        )
    }

    private func enabling(in texts: ConsoleTexts) -> HTML {
        block(
            texts.enableWebhook,
            "<p>\(texts.enableWebhookEffect)</p>\n\(enable.html("<button class=\"button\">\(texts.enableWebhook)</button>"))"
        )
    }

    private func suspension(in texts: ConsoleTexts) -> HTML {
        block(
            texts.suspend,
            "<p>\(texts.suspendEffect)</p>\n\(suspend.html("<button class=\"button\">\(texts.suspend)</button>"))")
    }

    private func flagControls(in texts: ConsoleTexts) -> HTML {
        let flags = application.flags
        return """
            \(flag("allow_anonymous_grants", texts.allowAnonymousGrants, flags.allowAnonymousGrants))
            \(flag("first_party", texts.firstParty, flags.firstParty))
            \(flag("linked_sub_details", texts.linkedSubDetails, flags.linkedSubDetails))
            <button class="button">\(texts.setFlags)</button>
            """
    }
}
