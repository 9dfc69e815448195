/// The server's own apps, which open its links instead of the browser (accounts §2.12).
package struct OwnAppSettings: Sendable {
    /// `A1B2C3D4E5.com.example.app`; empty if there is no such app on Apple's systems.
    package var appleAppIDs: [String]
    /// nil if there is no such app on Android.
    package var androidPackage: String?
    /// SHA-256 of the Android app's signing certificates, in capitals: `14:6D:…`.
    package var androidFingerprints: [String]
}

extension OwnAppSettings {
    init?(_ variables: VariableReader) {
        let appIDs = variables.optional(.aasaAppIDs) { text throws(InvalidValue) in
            try list(text).map { member throws(InvalidValue) in try appleAppID(member) }
        }
        let package = variables.optional(.assetlinksPackage, packageName)
        let fingerprints = variables.optional(.assetlinksFingerprints) { text throws(InvalidValue) in
            try list(text).map { member throws(InvalidValue) in try fingerprint(member) }
        }
        for (variable, other) in [
            (Variable.assetlinksPackage, Variable.assetlinksFingerprints),
            (.assetlinksFingerprints, .assetlinksPackage),
        ] where variables.isSet(other) && !variables.isSet(variable) {
            variables.report(variable, "is not set, but \(other.name) is; set both, or neither")
            return nil
        }
        self.init(
            appleAppIDs: appIDs ?? [], androidPackage: package, androidFingerprints: fingerprints ?? [])
    }
}

/// A team id of ten characters and a bundle id.
private func appleAppID(_ text: String) throws(InvalidValue) -> String {
    guard text.wholeMatch(of: /[0-9A-Z]{10}(\.[A-Za-z0-9\-]+)+/) != nil else {
        throw InvalidValue("has the member \(quoted(text)); set team and bundle, such as A1B2C3D4E5.com.example.app")
    }
    return text
}

private func packageName(_ text: String) throws(InvalidValue) -> String {
    guard text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+/) != nil else {
        throw InvalidValue("is \(quoted(text)); set an application id, such as com.example.app")
    }
    return text
}

private func fingerprint(_ text: String) throws(InvalidValue) -> String {
    guard text.wholeMatch(of: /[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}/) != nil else {
        throw InvalidValue(
            "has the member \(quoted(text)); set SHA-256 fingerprints as keytool -list prints them, 14:6D:E9:…")
    }
    return text.uppercased()
}
