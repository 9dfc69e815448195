import OpenSSL
import Push

extension PushSettings {
    /// nil if no notifications are sent, or if a variable is wrong.
    static func read(_ variables: VariableReader, _ deployment: Deployment?) -> PushSettings? {
        // If there is no deployment, that has been reported, and nothing follows from it.
        let isDevelopment = deployment?.environment != .production
        let target = variables.value(.pushSender) { text throws(InvalidValue) in
            try Target(text, isDevelopment: isDevelopment)
        }
        if case .apns? = target { return apns(variables) }
        let own: [Variable] = [
            .apnsTeamID, .apnsKeyID, .apnsPrivateKey, .apnsTopic, .apnsURL, .apnsCAFile,
        ]
        // If the sender is wrong, that is reported.
        for variable in own where target != nil && variables.isSet(variable) {
            variables.report(variable, "is only for MERGANSER_PUSH_SENDER=apns; unset it, or set the sender")
        }
        guard case .spool(let folder)? = target else { return nil }
        return .spool(folder: folder)
    }

    private static func apns(_ variables: VariableReader) -> PushSettings? {
        let teamID = needed(.apnsTeamID, variables, appleID)
        let keyID = needed(.apnsKeyID, variables, appleID)
        let privateKey = needed(.apnsPrivateKey, variables) { text throws(InvalidValue) in
            guard let key = try? PrivateKey(pem: text), key.kind == .p256 else {
                throw InvalidValue("is no private key on P-256 in PEM; set the content of the .p8 file from Apple")
            }
            return key
        }
        let topic = needed(.apnsTopic, variables) { text throws(InvalidValue) in
            guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy(isBundleCharacter) else {
                throw InvalidValue("is \(quoted(text)); set the app's bundle id, such as com.example.app")
            }
            return text
        }
        let environment = variables.choice(.apnsEnvironment, PushToken.Environment.self)
        let url = variables.optional(.apnsURL) { text throws(InvalidValue) in
            guard let url = WebURL(text), url.isHTTPS, url.rest.isEmpty else {
                throw InvalidValue("is \(quoted(text)); set https and a host only, such as https://push.example.com")
            }
            return url.description
        }
        let authorities = variables.optional(.apnsCAFile, absolutePath)
        guard let teamID, let keyID, let privateKey, let topic, let environment else { return nil }
        return .apns(
            APNsSettings(
                teamID: teamID, keyID: keyID, privateKey: privateKey, topic: topic, environment: environment, url: url,
                certificateAuthorities: authorities))
    }

    private static func needed<Value>(
        _ variable: Variable, _ variables: VariableReader, _ parse: (String) throws(InvalidValue) -> Value
    ) -> Value? {
        if !variables.isSet(variable) {
            variables.report(variable, "is not set; set it (form: \(variable.form)), or MERGANSER_PUSH_SENDER=none")
            return nil
        }
        return variables.optional(variable, parse)
    }
}

/// What the variable names.
private enum Target {
    case none, apns
    case spool(String)

    init(_ text: String, isDevelopment: Bool) throws(InvalidValue) {
        switch text {
        case "none": self = .none
        case "apns": self = .apns
        case _ where text.utf8.starts(with: "spool:".utf8):
            guard isDevelopment else {
                throw InvalidValue(
                    "is \(quoted(text)), which is only for MERGANSER_ENVIRONMENT=development; set apns or none")
            }
            self = .spool(try absolutePath(String(text.utf8.dropFirst("spool:".utf8.count)) ?? ""))
        default:
            throw InvalidValue("is \(quoted(text)); set apns, none, or in development spool: and the path of a folder")
        }
    }
}

/// An id of a team or a key at Apple.
private func appleID(_ text: String) throws(InvalidValue) -> String {
    guard text.utf8.count == 10, text.utf8.allSatisfy(isCapitalOrDigit) else {
        throw InvalidValue("is \(quoted(text)); set the 10 capital letters and digits that Apple shows")
    }
    return text
}

private func isCapitalOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
}

private func isBundleCharacter(_ byte: UInt8) -> Bool {
    isCapitalOrDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
        || byte == UInt8(ascii: ".")
}
