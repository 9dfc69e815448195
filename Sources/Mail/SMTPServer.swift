/// The server that mail is handed to (RFC 5321, RFC 6409), and how it is reached.
package struct SMTPServer: Sendable {
    package enum Security: Sendable {
        /// From the first byte (RFC 8314): `smtps`.
        case implicitTLS
        /// STARTTLS (RFC 3207), without which nothing is sent: `smtp`.
        case startTLS
        /// STARTTLS if the server offers it. For development, to this machine alone.
        case startTLSIfOffered
    }

    package struct Login: Equatable, Sendable {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    package var security: Security
    /// A name or an address; an IPv6 address has its brackets.
    package var host: String
    package var port: UInt16
    package var login: Login?
    /// A PEM file of certificates to trust instead of the system's.
    package var certificateAuthorities: String?
    /// The time until a connection is made, including name resolution and TLS.
    package var connectTimeout = Duration.seconds(5)
    /// The time for a whole message.
    package var timeout = Duration.seconds(15)

    package init(
        _ security: Security, host: String, port: UInt16, login: Login? = nil, certificateAuthorities: String? = nil
    ) {
        self.security = security
        self.host = host
        self.port = port
        self.login = login
        self.certificateAuthorities = certificateAuthorities
    }
}
