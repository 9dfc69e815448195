package import Time

/// One person: the account, what belongs to it, and what was done to it (accounts §4.7).
package struct UserPage: ConsolePage {
    package struct Identity: Sendable {
        var provider: String
        var sub: String
        var email: String?
        var isVerified: Bool
        var linkedAt: Timestamp

        package init(provider: String, sub: String, email: String?, isVerified: Bool, linkedAt: Timestamp) {
            self.provider = provider
            self.sub = sub
            self.email = email
            self.isVerified = isVerified
            self.linkedAt = linkedAt
        }
    }

    package struct Device: Sendable {
        var uuid: String
        var platform: String
        var hasSecret: Bool
        var lastSeenAt: Timestamp

        package init(uuid: String, platform: String, hasSecret: Bool, lastSeenAt: Timestamp) {
            self.uuid = uuid
            self.platform = platform
            self.hasSecret = hasSecret
            self.lastSeenAt = lastSeenAt
        }
    }

    package struct Grant: Sendable {
        var clientID: String
        var name: String
        var sub: String
        var scopes: [String]
        var createdAt: Timestamp
        var revokedAt: Timestamp?

        package init(
            clientID: String, name: String, sub: String, scopes: [String], createdAt: Timestamp, revokedAt: Timestamp?
        ) {
            self.clientID = clientID
            self.name = name
            self.sub = sub
            self.scopes = scopes
            self.createdAt = createdAt
            self.revokedAt = revokedAt
        }
    }

    package struct Link: Sendable {
        var merge: String
        /// The other account.
        var user: String
        var via: String
        var at: Timestamp

        package init(merge: String, user: String, via: String, at: Timestamp) {
            self.merge = merge
            self.user = user
            self.via = via
            self.at = at
        }
    }

    package struct AbsorbedSub: Sendable {
        var clientID: String
        var sub: String
        var via: String
        var at: Timestamp

        package init(clientID: String, sub: String, via: String, at: Timestamp) {
            self.clientID = clientID
            self.sub = sub
            self.via = via
            self.at = at
        }
    }

    package enum List: CaseIterable, Sendable {
        case identities, devices, grants, links, absorbedSubs
    }

    package struct Contents: Sendable {
        var nickname: String?
        var identities: [Identity]
        var devices: [Device]
        var grants: [Grant]
        /// The merge that absorbed this account.
        var absorption: Link?
        var links: [Link]
        var absorbedSubs: [AbsorbedSub]
        var livePAKs: Int
        var webSessions: Int
        var pendingApprovals: Int
        /// The lists that have only the newest.
        var truncated: Set<List>

        package init(
            nickname: String?, identities: [Identity], devices: [Device], grants: [Grant], absorption: Link?,
            links: [Link], absorbedSubs: [AbsorbedSub], livePAKs: Int, webSessions: Int, pendingApprovals: Int,
            truncated: Set<List>
        ) {
            self.nickname = nickname
            self.identities = identities
            self.devices = devices
            self.grants = grants
            self.absorption = absorption
            self.links = links
            self.absorbedSubs = absorbedSubs
            self.livePAKs = livePAKs
            self.webSessions = webSessions
            self.pendingApprovals = pendingApprovals
            self.truncated = truncated
        }
    }

    package let section = ConsoleSection.users
    package var isDone: Bool
    var user: ConsoleUser
    var contents: Contents
    var timeline: [ConsoleAuditEntry]
    var paging: Paging
    /// Gets `role`.
    var role: PostForm
    var revokeSessions: PostForm
    /// Only of a deleted account.
    var restore: PostForm

    package init(
        user: ConsoleUser, contents: Contents, timeline: [ConsoleAuditEntry], paging: Paging, role: PostForm,
        revokeSessions: PostForm, restore: PostForm, isDone: Bool
    ) {
        self.user = user
        self.contents = contents
        self.timeline = timeline
        self.paging = paging
        self.role = role
        self.revokeSessions = revokeSessions
        self.restore = restore
        self.isDone = isDone
    }

    package func heading(in texts: ConsoleTexts) -> String { user.title(in: texts) }

    package func body(in texts: ConsoleTexts) -> HTML {
        let more: [Fact] = [
            fact(texts.nickname, contents.nickname.map(chosen)), fact(texts.appSignIns, "\(contents.livePAKs)"),
            fact(texts.webSessions, "\(contents.webSessions)"),
            fact(texts.pendingApprovals, "\(contents.pendingApprovals)"),
        ]
        return """
            \(facts(user.facts(in: texts) + more))
            \(block(texts.graph, "\(graph(in: texts).html(in: texts))\(contents.truncated.isEmpty ? nil : note(texts.notAll))"))\
            \(block(texts.identities, identities(in: texts), .identities, in: texts))\
            \(block(texts.devices, devices(in: texts), .devices, in: texts))\
            \(block(texts.grants, grants(in: texts), .grants, in: texts))\
            \(block(texts.links, links(in: texts), .links, in: texts))\
            \(changes(in: texts))\
            \(block(texts.timeline, rows(timeline.map { $0.row(in: texts) }, empty: texts.noEntries)))
            \(paging.html(in: texts))
            """
    }

    /// A list with its heading, and where the rest is.
    private func block(_ heading: String, _ rows: HTML, _ list: List, in texts: ConsoleTexts) -> HTML {
        guard contents.truncated.contains(list) else { return block(heading, rows) }
        let rest: HTML =
            list == .links
            ? "<p class=\"note\"><a href=\"\(ConsoleSection.merges.path)?user_id=\(user.id)\">\(texts.allMerges)</a></p>"
            : note(texts.notAll)
        return block(heading, "\(rows)\n\(rest)")
    }

    private func note(_ text: String) -> HTML { "<p class=\"note\">\(text)</p>" }

    private func graph(in texts: ConsoleTexts) -> IdentityGraph {
        func day(_ time: Timestamp) -> String { String(time.iso8601.prefix(10)) }
        var nodes: [IdentityGraph.Node] = []
        func other(_ kind: IdentityGraph.Kind, _ link: Link) -> IdentityGraph.Node {
            IdentityGraph.Node(kind, "\(texts.user) \(link.user)", detail: "\(link.via), \(day(link.at))")
        }
        if let absorption = contents.absorption { nodes.append(other(.survivor, absorption)) }
        nodes += contents.links.map { other(.absorbed, $0) }
        nodes += contents.absorbedSubs.map { absorbed in
            IdentityGraph.Node(
                .absorbedSub, "\(texts.sub) \(absorbed.sub)",
                detail: "\(absorbed.via), \(day(absorbed.at)), \(absorbed.clientID)")
        }
        nodes += contents.identities.map { identity in
            IdentityGraph.Node(
                .identity, "\(providerName(identity.provider)) \(identity.email ?? identity.sub)",
                detail: day(identity.linkedAt))
        }
        nodes += contents.devices.map { IdentityGraph.Node(.device, $0.uuid, detail: $0.platform) }
        nodes += contents.grants.filter { $0.revokedAt == nil }.map { grant in
            IdentityGraph.Node(.application, grant.name, detail: "\(texts.sub) \(grant.sub), \(day(grant.createdAt))")
        }
        return IdentityGraph(center: user.title(in: texts), nodes: nodes)
    }

    private func identities(in texts: ConsoleTexts) -> HTML {
        let items = contents.identities.map { identity -> HTML in
            facts([
                fact(texts.signedInWith, code(identity.provider)), fact(texts.sub, code(identity.sub)),
                fact(
                    texts.address,
                    identity.email.map {
                        "\(chosen($0)), \(identity.isVerified ? texts.verified : texts.notVerified)"
                    }), fact(texts.at, moment(identity.linkedAt)),
            ])
        }
        return rows(items, empty: texts.none)
    }

    private func devices(in texts: ConsoleTexts) -> HTML {
        let items = contents.devices.map { device -> HTML in
            facts([
                fact("UUID", code(device.uuid)), fact(texts.type, code(device.platform)),
                fact(texts.lastActive, moment(device.lastSeenAt)),
                fact(texts.status, device.hasSecret ? nil : "\(texts.secretVoided)"),
            ])
        }
        return rows(items, empty: texts.none)
    }

    private func grants(in texts: ConsoleTexts) -> HTML {
        let items = contents.grants.map { grant -> HTML in
            """
            <h3 class="row"><a href="/admin/applications/\(grant.clientID)">\(chosen(grant.name))</a></h3>
            \(facts([
                fact(texts.sub, code(grant.sub)), fact(texts.scopes, code(grant.scopes.joined(separator: " "))),
                fact(texts.created, moment(grant.createdAt)), fact(texts.revoked, grant.revokedAt.map(moment)),
            ]))
            """
        }
        return rows(items, empty: texts.none)
    }

    private func links(in texts: ConsoleTexts) -> HTML {
        let items = contents.links.map { item -> HTML in
            """
            <h3 class="row"><a href="/admin/merges/\(item.merge)">\(texts.merge) \(item.merge)</a></h3>
            \(facts([
                fact(texts.absorbed, link(toUser: item.user, "\(texts.user) \(item.user)")), fact(texts.via, code(item.via)),
                fact(texts.at, moment(item.at)),
            ]))
            """
        }
        return rows(items, empty: texts.none)
    }

    /// A deleted account can only be restored; one that is live has a role, and people who are signed in to it. An absorbed
    /// one has nothing of its own.
    private func changes(in texts: ConsoleTexts) -> HTML {
        if user.deletedAt != nil {
            let button: HTML = "<button class=\"button\">\(texts.restoreButton)</button>"
            return """
                <div class="tiles changes">
                \(block(texts.restore, "<p>\(texts.restoreEffect)</p>\n\(restore.html(button))"))\
                </div>

                """
        }
        if user.mergedInto != nil { return .empty }
        let choices = ConsoleUser.Role.allCases.map { role -> HTML in
            let chosen: HTML? = role == user.role ? " selected" : nil
            return "<option value=\"\(role.rawValue)\"\(chosen)>\(texts.roles[role] ?? "")</option>"
        }
        let roleControls: HTML = """
            <label for="role">\(texts.role)</label>
            <select id="role" name="role">\(choices)</select>
            <button class="button">\(texts.setRole)</button>
            """
        return """
            <div class="tiles changes">
            \(block(texts.changeRole, "\(role.html(roleControls))\n<p class=\"note\">\(texts.freshSignIn)</p>"))\
            \(block(
                texts.cutOff,
                "<p>\(texts.cutOffEffect)</p>\n\(revokeSessions.html("<button class=\"button\">\(texts.cutOffButton)</button>"))"))\
            </div>

            """
    }
}
