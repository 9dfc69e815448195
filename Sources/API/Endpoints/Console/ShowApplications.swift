import Accounts
import Database
import HTTP
import JSON
import Pages
import Text

/// `GET /admin/applications?before=` (accounts §4.7): all applications, the newest first.
@Sendable func showApplications(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let before = try call.before(Application.self)
    return try call.show("applications", to: console.administrator) { connection in
        try connection.registeredApplications(before: before, limit: ListLimit.usual)
    } answer: { page in
        .page(
            ApplicationsPage(
                applications: page.rows.map(ConsoleApplication.init),
                paging: Paging(
                    path: ConsoleSection.applications.path, isFirst: before == nil, cursor: page.next)),
            in: call.language)
    }
}

/// `GET /admin/applications/{client_id}`: an application, and what is decided about it.
@Sendable func showAnyApplication(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let clientID = call.arguments[0]
    return try call.show("applications", id: clientID, to: console.administrator) { connection in
        try connection.registeredApplication(clientID)
    } answer: { application in
        guard let application else { throw Failure.notFound }
        let path = applicationPath(application.clientID)
        return .page(
            ApplicationPage(
                application: ConsoleApplication(application),
                approve: call.form(to: "\(path)/approve", of: console, .init("revision", application.revision)),
                suspend: call.form(to: "\(path)/suspend", of: console),
                flags: call.form(to: "\(path)/flags", of: console),
                enable: call.form(to: "\(path)/webhook_enable", of: console), isDone: call.isDone),
            in: call.language)
    }
}

/// `POST /admin/applications/{client_id}/approve`: approves what the page showed, and nothing newer.
@Sendable func approveAnyApplication(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (clientID, revision) = (call.arguments[0], try call.form.value("revision") ?? "")
    return try call.change(from: applicationPath(clientID), by: console) { transaction, changer in
        _ = try transaction.approveApplication(
            clientID, revision: revision, by: call.accounts.settings.applicationRules, approving: changer)
    }
}

/// `POST /admin/applications/{client_id}/suspend`: stops an application.
@Sendable func suspendApplication(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    var changes = ApplicationChanges()
    changes.status = .suspended
    return try call.set(changes, by: console)
}

/// `POST /admin/applications/{client_id}/flags`: sets the flags that only an operator sets. A box that is not checked is
/// not sent.
@Sendable func setApplicationFlags(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    var changes = ApplicationChanges()
    changes.allowAnonymousGrants = try call.form.value("allow_anonymous_grants") != nil
    changes.firstParty = try call.form.value("first_party") != nil
    changes.linkedSubDetails = try call.form.value("linked_sub_details") != nil
    return try call.set(changes, by: console)
}

/// `POST /admin/applications/{client_id}/webhook_enable`: sends to the application's receiver again.
@Sendable func enableReceiver(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let clientID = call.arguments[0]
    return try call.change(from: applicationPath(clientID), by: console) { transaction, changer in
        _ = try transaction.enableWebhook(clientID, by: changer)
    }
}

extension Call {
    fileprivate func set(_ changes: ApplicationChanges, by console: ConsoleVisitor) throws -> Response {
        let clientID = arguments[0]
        let approved = try ApprovedChanges(changes, by: accounts.settings.applicationRules)
        return try change(from: applicationPath(clientID), by: console) { transaction, changer in
            _ = try transaction.setApplication(clientID, approved, by: changer)
        }
    }
}

private func applicationPath(_ clientID: String) -> String {
    "\(ConsoleSection.applications.path)/\(PercentEncoding.encode(clientID))"
}

extension ConsoleApplication {
    fileprivate init(_ application: RegisteredApplication) {
        let status: Status =
            switch application.status {
            case .pending: .pending
            case .active: .active
            case .suspended: .suspended
            }
        self.init(
            clientID: application.clientID, name: application.name, type: application.clientType.rawValue,
            status: status, owner: application.owner.map { String($0.rawValue) },
            redirectURIs: application.redirectURIs, postLogoutRedirectURIs: application.postLogoutRedirectURIs,
            scopes: application.allowedScopes.names, appLink: application.appLinkURL,
            webhook: application.webhookURL, webhookDisabledAt: application.webhookDisabledAt,
            flags: Flags(
                allowAnonymousGrants: application.allowAnonymousGrants, firstParty: application.firstParty,
                linkedSubDetails: application.linkedSubDetails),
            createdAt: application.createdAt,
            changes: application.pendingChanges.members.map { member in
                Change(
                    name: member.rawValue, now: lines(application.judged.values[member]),
                    wanted: lines(application.pendingChanges.values[member]))
            })
    }
}

/// The texts of a setting.
private func lines(_ value: JSONValue?) -> [String] {
    guard let value else { return [] }
    return (value.array ?? [value]).map { $0.string ?? "–" }
}
