package import JSON

/// The facts that feedback and answers to questionnaires state about their client (analytics §10).
package struct ClientMetadata: Sendable {
    package let environment: String?
    package let osVersion: String?
    package let appVersion: String?
    package let sdkName: String?
    package let sdkVersion: String?
    package let deviceModel: String?
    package let isDev: Bool

    /// Trims and truncates each value. A value that is not a string counts as null.
    package init(_ body: JSONObject) {
        environment = body.text("environment", cutTo: 50)
        osVersion = body.text("os_version", cutTo: 50)
        appVersion = body.text("app_version", cutTo: 50)
        sdkName = body.text("sdk_name", cutTo: 50)
        sdkVersion = body.text("sdk_version", cutTo: 50)
        deviceModel = body.text("device_model", cutTo: 100)
        isDev = body["is_dev"] == true
    }

    /// - Throws: if the environment does not fit the platform; then if a field has a NUL.
    func check(for platform: AppPlatform) throws(Refusal) {
        if let environment, let objection = platform.objection(to: environment) { throw .invalid(objection) }
        try osVersion?.checkForNUL(field: "os_version")
        try appVersion?.checkForNUL(field: "app_version")
        try sdkName?.checkForNUL(field: "sdk_name")
        try sdkVersion?.checkForNUL(field: "sdk_version")
        try deviceModel?.checkForNUL(field: "device_model")
    }

    /// A new record for the user of a row with this metadata (§4.1).
    func newRecord(for platform: AppPlatform) -> NewRecord { NewRecord(isDev: isDev && platform != .backend) }
}
