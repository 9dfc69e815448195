import IdentityTokens

extension Variable {
    /// The reference, in its order.
    package static let all = [
        issuer, environment, serverKey, serverKeyPrevious,
        appleAudiences, appleIssuers, appleJWKSURL, appleAuthorizeURL, appleWebClientID,
        appleTeamID, appleKeyID, applePrivateKey, appleTokenURL, appleRevocationURL,
        googleAudiences, googleIssuers, googleJWKSURL, googleAuthorizeURL, googleWebClientID,
        pakTTLDays, loginHistoryDays, linkByEmail, restoreWithinGrace, anonymousInactiveDays, undoDays,
        autoApproveApplications, agentsBearerOnly, errorDocsBase,
        otpSender, mailFrom, smtpUser, smtpPassword, smtpCAFile,
        brandName, brandLogo, brandAccent, brandSupportURL, brandPrivacyURL,
        qrSignIn, pushSender, apnsTeamID, apnsKeyID, apnsPrivateKey, apnsTopic, apnsEnvironment, apnsURL, apnsCAFile,
        aasaAppIDs, assetlinksPackage, assetlinksFingerprints,
        attachmentDirectory, attachmentMaximumSize, attachmentSecret, attachmentSender, uploadPatience,
        attributionEndpoint, countryHeader, tombstoneGrace,
        databaseSocket, databaseHost, databasePort, databaseUser, databasePassword, databaseName, databaseCAFile,
        instance, socket, socketGroup, controlSocket, threads, dispatchers, drainLimit, queueLimit, slowStatement,
        stateDirectory,
        logLevel,
        sqlDirectory, devKeysDirectory,
    ]

    static let issuer = Variable(
        "MERGANSER_ISSUER", "URL", .required,
        "Base URL of this server as clients see it, without trailing slash; https in production")
    static let environment = Variable(
        "MERGANSER_ENVIRONMENT", "production | development", .text("production"),
        "development enables the development issuer and `merganserctl dev`; needs a loopback issuer")
    static let serverKey = Variable(
        "MERGANSER_SERVER_KEY", "32 bytes, hex or base64", .required,
        "Encrypts secrets in the database; make one with `openssl rand -hex 32`", isSecret: true)
    static let serverKeyPrevious = Variable(
        "MERGANSER_SERVER_KEY_PREVIOUS", "32 bytes, hex or base64", .none,
        "The second server key during a rotation; it decrypts, but never encrypts", isSecret: true)

    static let appleAudiences = Variable(
        "MERGANSER_APPLE_AUDIENCES", "list", .none,
        "Client ids of apps that Apple's identity tokens may have as `aud`; without any client id Apple is off")
    static let appleIssuers = Variable(
        "MERGANSER_APPLE_ISSUERS", "list", .text(Provider.apple.defaults.issuers.joined(separator: ",")),
        "Values that Apple's identity tokens may have as `iss`")
    static let appleJWKSURL = Variable(
        "MERGANSER_APPLE_JWKS_URL", "URL", .text(Provider.apple.defaults.jwksURL),
        "Where Apple's key set is fetched; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let appleAuthorizeURL = Variable(
        "MERGANSER_APPLE_AUTHORIZE_URL", "URL", .text(Provider.apple.defaults.authorizeURL),
        "Where people in browsers sign in with Apple; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let appleWebClientID = Variable(
        "MERGANSER_APPLE_WEB_CLIENT_ID", "client id", .none,
        "Client id of the login page at Apple, also accepted as `aud`; without it the page does not offer Apple")
    static let appleTeamID = Variable(
        "MERGANSER_APPLE_TEAM_ID", "id", .none,
        "The team at Apple; with key id and private key, Apple's tokens are revoked when accounts or sign-in methods go"
    )
    static let appleKeyID = Variable(
        "MERGANSER_APPLE_KEY_ID", "id", .none, "The id of that team's key for Sign in with Apple")
    static let applePrivateKey = Variable(
        "MERGANSER_APPLE_PRIVATE_KEY", "PEM", .none, "That key, as Apple gives it out (AuthKey_….p8)", isSecret: true)
    static let appleTokenURL = Variable(
        "MERGANSER_APPLE_TOKEN_URL", "URL", .text("https://appleid.apple.com/auth/token"),
        "Where authorization codes are exchanged; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let appleRevocationURL = Variable(
        "MERGANSER_APPLE_REVOCATION_URL", "URL", .text("https://appleid.apple.com/auth/revoke"),
        "Where Apple's tokens are revoked; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let googleAudiences = Variable(
        "MERGANSER_GOOGLE_AUDIENCES", "list", .none,
        "Client ids of apps that Google's identity tokens may have as `aud`; without any client id Google is off")
    static let googleIssuers = Variable(
        "MERGANSER_GOOGLE_ISSUERS", "list", .text(Provider.google.defaults.issuers.joined(separator: ",")),
        "Values that Google's identity tokens may have as `iss`")
    static let googleJWKSURL = Variable(
        "MERGANSER_GOOGLE_JWKS_URL", "URL", .text(Provider.google.defaults.jwksURL),
        "Where Google's key set is fetched; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let googleAuthorizeURL = Variable(
        "MERGANSER_GOOGLE_AUTHORIZE_URL", "URL", .text(Provider.google.defaults.authorizeURL),
        "Where people in browsers sign in with Google; https, in development also http to localhost, 127.0.0.1 or [::1]"
    )
    static let googleWebClientID = Variable(
        "MERGANSER_GOOGLE_WEB_CLIENT_ID", "client id", .none,
        "Client id of the login page at Google, also accepted as `aud`; without it the page does not offer Google")

    static let pakTTLDays = Variable(
        "MERGANSER_PAK_TTL_DAYS", "days, 0 to 3650", .text("0"),
        "Lifetime of a PAK (personal API key); with 0 it is valid until it is revoked")
    static let loginHistoryDays = Variable(
        "MERGANSER_LOGIN_HISTORY_DAYS", "days, 1 to 3650", .text("180"), "How long the history of sign-ins is kept")
    static let linkByEmail = Variable(
        "MERGANSER_LINK_BY_EMAIL", "authoritative | verified | never", .text("authoritative"),
        "Which e-mail addresses of identity tokens lead to an existing account")

    static let restoreWithinGrace = Variable(
        "MERGANSER_RESTORE_WITHIN_GRACE", "on | off", .text("off"),
        """
        on: whoever signs in to a deleted account before its purge has it back; off: the sign-in is refused, and only \
        an operator or an administrator takes a deletion back
        """)
    static let anonymousInactiveDays = Variable(
        "MERGANSER_ANONYMOUS_INACTIVE_DAYS", "days, 0 to 3650", .text("0"),
        "After so many days without use, `merganserctl anonymous prune` deletes anonymous accounts; with 0 it deletes none"
    )
    static let undoDays = Variable(
        "MERGANSER_UNDO_DAYS", "days, 0 to 3650", .text("14"),
        """
        How long a merge or a swap can be undone, and what it changed or deleted is kept encrypted; lowering it erases \
        what is older; with 0 nothing is kept and nothing can be undone
        """)

    static let autoApproveApplications = Variable(
        "MERGANSER_AUTO_APPROVE_APPLICATIONS", "on | off", .text("off"),
        """
        on: applications that developers register, and their changes, take effect at once; off: they wait for \
        `merganserctl application approve`
        """)

    static let agentsBearerOnly = Variable(
        "MERGANSER_AGENTS_BEARER_ONLY", "on | off", .text("on"),
        "on: agents may use their bearer token alone, if their users say so; off: every agent has to sign its requests"
    )

    static let errorDocsBase = Variable(
        "MERGANSER_ERROR_DOCS_BASE", "URL", .computed("ISSUER/oauth/errors"),
        "Page that explains the OAuth error codes; the fragment of an `error_uri` is the error's code")

    static let otpSender = Variable(
        "MERGANSER_OTP_SENDER", "smtps://HOST | smtp://HOST | spool:FOLDER", .none,
        """
        What sends one-time passwords: a mail server with TLS from the start (port 465 unless another is set) or with \
        STARTTLS (587), or in development the file mail.jsonl in a folder; without it codes are made and never sent
        """)
    static let mailFrom = Variable(
        "MERGANSER_MAIL_FROM", "address", .computed("merganser@localhost for a folder; required for a mail server"),
        "Address that mail comes from; its domain is also the name that the mail server is greeted with")
    static let smtpUser = Variable(
        "MERGANSER_SMTP_USER", "name", .none, "User at the mail server; leave it out if the server needs no login")
    static let smtpPassword = Variable(
        "MERGANSER_SMTP_PASSWORD", "text", .none, "Password of that user", isSecret: true)
    static let smtpCAFile = Variable(
        "MERGANSER_SMTP_CA_FILE", "path", .none,
        "CA certificates that verify the mail server's certificate, instead of the system's")

    static let brandName = Variable(
        "MERGANSER_BRAND_NAME", "text", .computed("Merganser"), "Name on all pages and in all mails")
    static let brandLogo = Variable(
        "MERGANSER_BRAND_LOGO", "path", .computed("Merganser's emblem"),
        "SVG or PNG of at most 64 KiB, which stands beside the name; an SVG has no script and refers to nothing outside"
    )
    static let brandAccent = Variable(
        "MERGANSER_BRAND_ACCENT", "#rrggbb[,#rrggbb]", .computed("Merganser's green"),
        """
        Color of buttons and links on light pages, and on dark ones (without it: the same, lightened); its contrast with \
        the pages' colors must be at least 4.5:1
        """)
    static let brandSupportURL = Variable(
        "MERGANSER_BRAND_SUPPORT_URL", "URL", .none, "Where people get help; linked on all pages and in all mails")
    static let brandPrivacyURL = Variable(
        "MERGANSER_BRAND_PRIVACY_URL", "URL", .none, "The privacy policy; linked on all pages and in all mails")

    static let qrSignIn = Variable(
        "MERGANSER_QR_SIGN_IN", "on | off", .text("on"),
        "Whether the login page offers a code that people scan with the app to sign in")
    static let pushSender = Variable(
        "MERGANSER_PUSH_SENDER", "apns | none | spool:FOLDER", .text("none"),
        """
        What notifies phones of sign-ins that wait for approval: Apple's push service, or in development the file \
        push.jsonl in a folder; with none the login page does not offer approval on a phone
        """)
    static let apnsTeamID = Variable(
        "MERGANSER_APNS_TEAM_ID", "10 of A-Z 0-9", .none, "Team at Apple that the app belongs to; required for apns")
    static let apnsKeyID = Variable(
        "MERGANSER_APNS_KEY_ID", "10 of A-Z 0-9", .none,
        "Id of the key that Apple issued for its push service; required for apns")
    static let apnsPrivateKey = Variable(
        "MERGANSER_APNS_PRIVATE_KEY", "PEM", .none,
        "That key, as in the .p8 file from Apple; required for apns", isSecret: true)
    static let apnsTopic = Variable(
        "MERGANSER_APNS_TOPIC", "bundle id", .none, "The server's own app that gets notifications; required for apns")
    static let apnsEnvironment = Variable(
        "MERGANSER_APNS_ENVIRONMENT", "production | sandbox", .text("production"),
        "Which of Apple's servers is used; devices that registered for the other one get nothing")
    static let apnsURL = Variable(
        "MERGANSER_APNS_URL", "URL", .computed("Apple's server for the environment"),
        "Base URL of the push service, with https and without trailing slash, such as that of a proxy")
    static let apnsCAFile = Variable(
        "MERGANSER_APNS_CA_FILE", "path", .none,
        "CA certificates that verify the push service's certificate, instead of the system's")

    static let aasaAppIDs = Variable(
        "MERGANSER_AASA_APP_IDS", "list", .none,
        "The server's own apps on Apple's systems, which open its links (apple-app-site-association), as TEAM.BUNDLE")
    static let assetlinksPackage = Variable(
        "MERGANSER_ASSETLINKS_PACKAGE", "name", .none,
        "The server's own app on Android, which opens its links (assetlinks.json)")
    static let assetlinksFingerprints = Variable(
        "MERGANSER_ASSETLINKS_FINGERPRINTS", "list", .none, "SHA-256 of the certificates that sign the app on Android")

    static let attachmentDirectory = Variable(
        "MERGANSER_ATTACHMENT_DIR", "path", .required,
        "Folder of the attachments' bytes, on a file system that all instances share; created at the start")
    static let attachmentMaximumSize = Variable(
        "MERGANSER_ATTACHMENT_MAX_BYTES", "bytes", .text("262144000"),
        "Size of the largest attachment; nginx must have the same limit in the location for uploads")
    static let attachmentSecret = Variable(
        "MERGANSER_ATTACHMENT_SECRET", "32 bytes, hex or base64", .required,
        "Signs download links; must be the same on all instances; make one with `openssl rand -hex 32`",
        isSecret: true)
    static let attachmentSender = Variable(
        "MERGANSER_ATTACHMENT_SENDER", "nginx | worker", .text("nginx"),
        "What sends downloads: nginx from the same folder, or, if nginx does not have the folder, the worker")
    static let uploadPatience = Variable(
        "MERGANSER_UPLOAD_PATIENCE_SECONDS", "seconds, 1 to 3600", .text("30"),
        "How far an upload may fall behind a pace of 8 KiB a second before it is answered 408")
    static let attributionEndpoint = Variable(
        "MERGANSER_ATTRIBUTION_ENDPOINT", "URL", .text("https://api-adservices.apple.com/api/v1/"),
        "Where attribution tokens are resolved; https, in development also http to localhost, 127.0.0.1 or [::1]")
    static let countryHeader = Variable(
        "MERGANSER_COUNTRY_HEADER", "header", .text("CF-IPCountry"),
        "Request header that names an end user's country; with an empty value no header is read", isEmptyValue: true)
    static let tombstoneGrace = Variable(
        "MERGANSER_TOMBSTONE_GRACE_SECONDS", "seconds, 0 to 86400", .text("600"),
        "How long `merganserctl compact` keeps the record of an anonymous user after it was merged")

    static let databaseSocket = Variable(
        "MERGANSER_DATABASE_SOCKET", "path", .computed("/run/mysqld/mysqld.sock, unless a host is set"),
        "MariaDB's unix socket")
    static let databaseHost = Variable(
        "MERGANSER_DATABASE_HOST", "host name or address", .none,
        "Host of MariaDB, which is reached over TCP instead of the socket")
    static let databasePort = Variable(
        "MERGANSER_DATABASE_PORT", "1 to 65535", .text("3306"), "Port of MariaDB at `MERGANSER_DATABASE_HOST`")
    static let databaseUser = Variable(
        "MERGANSER_DATABASE_USER", "name", .text("merganser"), "Account that the programs use at MariaDB")
    static let databasePassword = Variable(
        "MERGANSER_DATABASE_PASSWORD", "text", .none,
        "Password of that account; leave it out if the account authenticates by unix_socket", isSecret: true)
    static let databaseName = Variable(
        "MERGANSER_DATABASE_NAME", "name", .text("merganser"), "Schema that has the tables")
    static let databaseCAFile = Variable(
        "MERGANSER_DATABASE_CA_FILE", "path", .none,
        "CA certificates that verify the database's certificate; required unless the host is a loopback")

    static let instance = Variable(
        "MERGANSER_INSTANCE", "1 to 32 of a-z 0-9 -", .text("main"),
        "Name of this instance in logs and metrics, such as blue or green")
    static let socket = Variable(
        "MERGANSER_SOCKET", "path", .text("/run/merganser/merganser.sock"),
        "FastCGI socket that nginx connects to; not used if the process inherits a listening socket")
    static let socketGroup = Variable(
        "MERGANSER_SOCKET_GROUP", "group", .none,
        "nginx's group, such as www-data, which may connect to both sockets; the default is the process's group")
    static let controlSocket = Variable(
        "MERGANSER_CONTROL_SOCKET", "path", .computed("/run/merganser/control-INSTANCE.sock"),
        "FastCGI socket of /healthz, /readyz and /metrics; every instance needs its own")
    static let threads = Variable(
        "MERGANSER_THREADS", "1 to 1024", .computed("4 for each processor, at least 8"),
        "Worker threads, each with one database connection")
    static let dispatchers = Variable(
        "MERGANSER_DISPATCHERS", "0 to 16", .text("1"),
        "Threads that send webhooks, logout tokens and revocations at Apple, each with one database connection; with 0, `merganserctl dispatch` must send them"
    )
    static let drainLimit = Variable(
        "MERGANSER_DRAIN_LIMIT_SECONDS", "seconds, 1 to 3600", .text("30"),
        "How long a stopping instance waits for nginx to close idle connections; it always answers requests under way")
    static let queueLimit = Variable(
        "MERGANSER_QUEUE_LIMIT_MILLISECONDS", "milliseconds, 0 to 60000", .text("2000"),
        "How long a request may wait for a worker before it is answered 503; with 0 there is no limit")
    static let slowStatement = Variable(
        "MERGANSER_SLOW_STATEMENT_MILLISECONDS", "milliseconds, 0 to 60000", .text("500"),
        "Statements and transactions that take this long are logged with their request's id; with 0 none are logged")
    static let stateDirectory = Variable(
        "MERGANSER_STATE_DIRECTORY", "path", .text("/var/lib/merganser"),
        "Folder that keeps the last good key sets across restarts")
    static let logLevel = Variable(
        "MERGANSER_LOG_LEVEL", "trace | debug | info | notice | warning | error | critical", .text("info"),
        "Lowest level that is logged; debug logs every request")

    static let sqlDirectory = Variable(
        "MERGANSER_SQL_DIRECTORY", "path", .text("/usr/share/merganser/sql"),
        "Folder of the migrations that `merganserctl migrate` runs")
    static let devKeysDirectory = Variable(
        "MERGANSER_DEV_KEYS_DIRECTORY", "path", .none, "Folder of the development issuer's keys")

    /// Whether other programs use the variable: the Makefile, `.run/env` and the tests set it.
    static func isForeign(_ name: String) -> Bool {
        [
            "MERGANSER_PORT", "MERGANSER_URL", "MERGANSER_PROVIDER", "MERGANSER_DB", "MERGANSER_PROJECT_ID",
            "MERGANSER_BUNDLE_ID",
            "MERGANSER_CLIENT_KEY", "MERGANSER_IMPORT_KEY", "MERGANSER_AGENT_KEY", "MERGANSER_CLIENT_ID",
            "MERGANSER_CONFIDENTIAL_CLIENT_ID", "MERGANSER_CONFIDENTIAL_CLIENT_SECRET",
        ].contains(name) || name.utf8.starts(with: "MERGANSER_TEST_".utf8)
    }
}
