import Fetch
import Mail

extension MailSettings {
    /// nil if no mail is sent, or if a variable is wrong.
    static func read(_ variables: VariableReader, _ deployment: Deployment?) -> MailSettings? {
        // If there is no deployment, that has been reported, and nothing follows from it.
        let isDevelopment = deployment?.environment != .production
        let target = variables.optional(.otpSender) { text throws(InvalidValue) in
            try Target(text, isDevelopment: isDevelopment)
        }
        let from = variables.optional(.mailFrom) { text throws(InvalidValue) in
            guard let address = MailAddress(text), address.isASCII else {
                throw InvalidValue("is \(quoted(text)); set an address, such as merganser@example.com")
            }
            return address
        }
        let user = variables.optional(.smtpUser) { text throws(InvalidValue) in text }
        let password = variables.optional(.smtpPassword) { text throws(InvalidValue) in text }
        let authorities = variables.optional(.smtpCAFile, absolutePath)
        guard variables.isSet(.otpSender) else {
            for variable in [Variable.mailFrom, .smtpUser, .smtpPassword, .smtpCAFile] where variables.isSet(variable) {
                variables.report(variable, "is only for MERGANSER_OTP_SENDER; unset it, or set the sender")
            }
            return nil
        }
        switch target {
        case nil: return nil
        case .spool(let folder):
            for variable in [Variable.smtpUser, .smtpPassword, .smtpCAFile] where variables.isSet(variable) {
                variables.report(variable, "is only for a mail server, but MERGANSER_OTP_SENDER is a folder; unset it")
            }
            let sender = variables.isSet(.mailFrom) ? from : MailAddress("merganser@localhost")
            return sender.map { MailSettings(sender: .spool(folder: folder), from: $0) }
        case .server(var server):
            server.login = login(user, password, variables)
            server.certificateAuthorities = authorities
            if !variables.isSet(.mailFrom) {
                variables.report(.mailFrom, "is not set; set the address that mail comes from")
            }
            return from.map { MailSettings(sender: .smtp(server), from: $0) }
        }
    }

    private static func login(
        _ user: String?, _ password: String?, _ variables: VariableReader
    ) -> SMTPServer.Login? {
        for (variable, other) in [(Variable.smtpUser, Variable.smtpPassword), (.smtpPassword, .smtpUser)]
        where variables.isSet(other) && !variables.isSet(variable) {
            variables.report(variable, "is not set, but \(other.name) is; set both, or neither")
        }
        guard let user, let password else { return nil }
        return SMTPServer.Login(user: user, password: password)
    }
}

/// What the variable names.
private enum Target {
    case spool(String)
    case server(SMTPServer)

    init(_ text: String, isDevelopment: Bool) throws(InvalidValue) {
        if text.utf8.starts(with: "spool:".utf8) {
            guard isDevelopment else {
                throw InvalidValue(
                    "is \(quoted(text)), which is only for MERGANSER_ENVIRONMENT=development; set a mail server")
            }
            self = .spool(try absolutePath(String(text.utf8.dropFirst("spool:".utf8.count)) ?? ""))
            return
        }
        guard let url = WrittenURL(text), url.rest.isEmpty,
            let authority = url.authority.flatMap({ Authority($0) }), authority.port != 0
        else { throw Self.malformed(text) }
        let host = authority.host.description
        switch url.scheme {
        case "smtps": self = .server(SMTPServer(.implicitTLS, host: host, port: authority.port ?? 465))
        case "smtp":
            // In the clear only where nobody can listen.
            let mayDoWithout = isDevelopment && authority.host.isLoopback
            self = .server(
                SMTPServer(mayDoWithout ? .startTLSIfOffered : .startTLS, host: host, port: authority.port ?? 587))
        default: throw Self.malformed(text)
        }
    }

    private static func malformed(_ text: String) -> InvalidValue {
        InvalidValue(
            "is \(quoted(text)); set smtps://HOST or smtp://HOST, with :PORT if it is not the usual one, or in development "
                + "spool: and the path of a folder")
    }
}
