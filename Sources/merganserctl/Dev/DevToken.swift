import ArgumentParser
import Configuration
import IdentityTokens
import JOSE
import OpenSSL
import Text
import Time

struct DevToken: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Prints an identity token of the development issuer.")

    @Option(help: ArgumentHelp("The provider that the token is from.", valueName: "apple|google"))
    var provider: Provider

    @Option(parsing: .unconditional, help: "The sub.")
    var subject: String

    @Option(parsing: .unconditional, help: "The raw nonce; the token holds its SHA-256.")
    var nonce: String

    @Option(help: "The email.")
    var email: String?

    @Option(help: ArgumentHelp("The email_verified. (default: true with an e-mail)", valueName: "true|false"))
    var emailVerified: Bool?

    @Option(help: "The name.")
    var name: String?

    @Option(help: "The aud. (default: the first of MERGANSER_<PROVIDER>_AUDIENCES)")
    var audience: String?

    @Option(help: "The iss. (default: the first of MERGANSER_<PROVIDER>_ISSUERS)")
    var issuer: String?

    @Option(parsing: .unconditional, help: "Seconds until the token expires; a negative number makes an expired token.")
    var expiresIn = 600

    @Option(parsing: .unconditional, help: "The kid in the header. (default: that of the key)")
    var kid: String?

    @Option(help: ArgumentHelp("The algorithm, which chooses the provider's key.", valueName: "RS256|ES256"))
    var alg = Algorithm.rs256

    @OptionGroup var output: Output

    func run() throws {
        let keys = try Environment.developmentIssuer()
        let settings = try Environment.configuration().providers[provider]
        guard let audience = audience ?? settings?.audiences.first else {
            throw ToolError(
                .configuration,
                "\(provider.rawValue) has no audience; pass --audience or set "
                    + "MERGANSER_\(provider.rawValue.uppercased())_AUDIENCES")
        }
        let now = Clock.system.now.seconds
        let token = try keys.token(
            of: provider,
            DevelopmentTokenClaims(
                iss: issuer ?? settings?.issuers.first ?? provider.defaults.issuers[0], aud: audience, sub: subject,
                iat: now, exp: now + Int64(expiresIn), nonce: sha256(nonce.utf8).hexadecimal, email: email,
                emailVerified: emailVerified ?? (email == nil ? nil : true), name: name),
            alg, keyID: kid)
        output.print(["identity_token": token], token)
    }
}

extension Provider: ExpressibleByArgument {}
extension Algorithm: ExpressibleByArgument {}
