import Accounts
import Analytics
import Configuration
import IdentityTokens
import Logging
import MariaDB
import Pages
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    @Test func takesTheDefaults() throws {
        let configuration = try Configuration.load(environment: good)
        #expect(configuration.deployment.environment == .production)
        #expect(configuration.deployment.issuer.description == "https://id.example.com")
        #expect(configuration.serverKey.bytes == [UInt8](repeating: 0xAB, count: 32))
        #expect(configuration.previousServerKey == nil)
        #expect(configuration.pakLifetime == nil)
        #expect(configuration.loginHistoryLifetime == .seconds(180 * 86_400))
        #expect(configuration.linkByEmail == .authoritative)
        #expect(!configuration.autoApprovesApplications && !configuration.restoresWithinGrace)
        #expect(configuration.allowsBearerOnlyAgents)
        #expect(configuration.anonymousInactivity == nil)
        #expect(configuration.undoWindow == .seconds(14 * 86_400))
        #expect(configuration.mail == nil)
        #expect(configuration.ownApps.appleAppIDs == [] && configuration.ownApps.androidPackage == nil)
        let analytics = configuration.analytics
        #expect(!analytics.isDevelopment)
        #expect(analytics.attributionEndpoint == "https://api-adservices.apple.com/api/v1/")
        #expect(analytics.attachments.directory == "/srv/attachments")
        #expect(analytics.attachments.maximumSize == 250 << 20)
        #expect(analytics.attachments.secret == [UInt8](repeating: 0xEF, count: 32))
        #expect(analytics.tombstoneGrace == .seconds(600))
        #expect(configuration.front.publicURL == "https://id.example.com")
        #expect(configuration.front.countryHeader == "cf-ipcountry")
        #expect(configuration.database.connection.address == .unixSocket("/run/mysqld/mysqld.sock"))
        #expect(configuration.database.connection.user == "merganser")
        #expect(configuration.database.connection.password == nil)
        #expect(configuration.database.connection.database == "merganser")
        #expect(configuration.database.sqlDirectory == "/usr/share/merganser/sql")
        #expect(configuration.server.instance == "main")
        #expect(configuration.server.socket == "/run/merganser/merganser.sock")
        #expect(configuration.server.controlSocket == "/run/merganser/control-main.sock")
        #expect(configuration.server.threads >= 8)
        #expect(configuration.server.drainLimit == .seconds(30))
        #expect(configuration.server.queueLimit == .seconds(2))
        #expect(configuration.server.slowStatement == .milliseconds(500))
        #expect(configuration.server.stateDirectory == "/var/lib/merganser")
        #expect(configuration.server.logLevel == .info)
        #expect(Array(configuration.providers.keys) == [.apple])
        let apple = try #require(configuration.providers[.apple])
        #expect(apple.issuers == ["https://appleid.apple.com"])
        #expect(apple.jwksURL == "https://appleid.apple.com/auth/keys")
        #expect(apple.audiences == ["com.example.app"])
        #expect(apple.authorizeURL == "https://appleid.apple.com/auth/authorize")
        #expect(apple.webClientID == nil)
        #expect(!apple.allowsLoopbackHTTP)
    }

    @Test func takesTheBrand() throws {
        #expect(try Configuration.load(environment: good).brand.name == "Merganser")
        let folder = try TemporaryDirectory()
        let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0h1\"/></svg>"
        let logo = try folder.write(drawing, to: "logo.svg")
        let brand = try Configuration.load(
            environment: good.setting([
                "MERGANSER_BRAND_NAME": "연못 ID", "MERGANSER_BRAND_LOGO": logo,
                "MERGANSER_BRAND_ACCENT": "#7a1fa2, #d0a0f0",
                "MERGANSER_BRAND_SUPPORT_URL": "https://pond.example/help",
                "MERGANSER_BRAND_PRIVACY_URL": "https://pond.example/privacy",
            ])
        ).brand
        #expect(brand.name == "연못 ID" && brand.logo?.contents == Array(drawing.utf8))
        #expect(brand.support == "https://pond.example/help" && brand.privacy == "https://pond.example/privacy")
        let sheet = String(decoding: brand.styleSheet.contents, as: UTF8.self)
        #expect(sheet.contains("--accent: #7a1fa2;") && sheet.contains("--accent: #d0a0f0;"))
    }

    @Test func takesWhatIsSet() throws {
        let configuration = try Configuration.load(
            environment: good.setting([
                "MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": "http://127.0.0.1:8080",
                "MERGANSER_SERVER_KEY_PREVIOUS": String(repeating: "cd", count: 32),
                "MERGANSER_GOOGLE_AUDIENCES": "one.apps.example, two.apps.example",
                "MERGANSER_GOOGLE_JWKS_URL": "http://127.0.0.1:8080/dev/google/keys",
                "MERGANSER_GOOGLE_AUTHORIZE_URL": "http://127.0.0.1:8081/google/authorize",
                "MERGANSER_GOOGLE_WEB_CLIENT_ID": "web.apps.example",
                "MERGANSER_PAK_TTL_DAYS": "30", "MERGANSER_LOGIN_HISTORY_DAYS": "1",
                "MERGANSER_LINK_BY_EMAIL": "never", "MERGANSER_AUTO_APPROVE_APPLICATIONS": "on",
                "MERGANSER_AGENTS_BEARER_ONLY": "off",
                "MERGANSER_RESTORE_WITHIN_GRACE": "on", "MERGANSER_ANONYMOUS_INACTIVE_DAYS": "400",
                "MERGANSER_UNDO_DAYS": "0",
                "MERGANSER_AASA_APP_IDS": "A1B2C3D4E5.com.example.app, A1B2C3D4E5.com.example.app-beta",
                "MERGANSER_ASSETLINKS_PACKAGE": "com.example.app",
                "MERGANSER_ASSETLINKS_FINGERPRINTS": (1...32).map { _ in "a1" }.joined(separator: ":"),
                "MERGANSER_DATABASE_HOST": "db.example.com",
                "MERGANSER_DATABASE_PORT": "3307", "MERGANSER_DATABASE_USER": "u", "MERGANSER_DATABASE_PASSWORD": "p w",
                "MERGANSER_DATABASE_NAME": "n", "MERGANSER_DATABASE_CA_FILE": "/etc/ca.pem",
                "MERGANSER_ATTRIBUTION_ENDPOINT": "http://127.0.0.1:9/resolve",
                "MERGANSER_COUNTRY_HEADER": "X-Country", "MERGANSER_ATTACHMENT_MAX_BYTES": "1",
                "MERGANSER_ATTACHMENT_SENDER": "worker", "MERGANSER_UPLOAD_PATIENCE_SECONDS": "3600",
                "MERGANSER_TOMBSTONE_GRACE_SECONDS": "0",
                "MERGANSER_INSTANCE": "green", "MERGANSER_SOCKET": "/tmp/m.sock", "MERGANSER_SOCKET_GROUP": "www-data",
                "MERGANSER_THREADS": "3", "MERGANSER_DRAIN_LIMIT_SECONDS": "5",
                "MERGANSER_QUEUE_LIMIT_MILLISECONDS": "0",
                "MERGANSER_SLOW_STATEMENT_MILLISECONDS": "0",
                "MERGANSER_STATE_DIRECTORY": "/tmp/state",
                "MERGANSER_LOG_LEVEL": "debug", "MERGANSER_SQL_DIRECTORY": "/tmp/sql",
                "MERGANSER_DEV_KEYS_DIRECTORY": "/tmp/keys",
            ]))
        #expect(configuration.deployment.environment == .development)
        #expect(configuration.deployment.issuer.port == 8080)
        #expect(configuration.deployment.developmentKeysDirectory == "/tmp/keys")
        #expect(configuration.previousServerKey?.bytes == [UInt8](repeating: 0xCD, count: 32))
        let google = try #require(configuration.providers[.google])
        #expect(google.audiences == ["one.apps.example", "two.apps.example", "web.apps.example"])
        #expect(google.authorizeURL == "http://127.0.0.1:8081/google/authorize")
        #expect(google.webClientID == "web.apps.example")
        #expect(google.issuers == ["https://accounts.google.com", "accounts.google.com"])
        #expect(google.jwksURL == "http://127.0.0.1:8080/dev/google/keys")
        #expect(google.allowsLoopbackHTTP)
        #expect(configuration.pakLifetime == .seconds(30 * 86_400))
        #expect(configuration.loginHistoryLifetime == .seconds(86_400))
        #expect(configuration.linkByEmail == .never)
        #expect(configuration.autoApprovesApplications && configuration.restoresWithinGrace)
        #expect(!configuration.allowsBearerOnlyAgents)
        #expect(configuration.anonymousInactivity == .seconds(400 * 86_400))
        #expect(configuration.undoWindow == nil)
        #expect(
            configuration.ownApps.appleAppIDs == ["A1B2C3D4E5.com.example.app", "A1B2C3D4E5.com.example.app-beta"])
        #expect(configuration.ownApps.androidPackage == "com.example.app")
        #expect(configuration.ownApps.androidFingerprints == [(1...32).map { _ in "A1" }.joined(separator: ":")])
        #expect(configuration.analytics.isDevelopment)
        #expect(configuration.analytics.attributionEndpoint == "http://127.0.0.1:9/resolve")
        #expect(configuration.front.countryHeader == "x-country")
        #expect(configuration.analytics.attachments.maximumSize == 1)
        #expect(configuration.front.attachmentSender == .worker)
        #expect(configuration.front.uploadPatience == .seconds(3600))
        #expect(configuration.analytics.tombstoneGrace == .zero)
        #expect(configuration.database.connection.address == .tcp(host: "db.example.com", port: 3307))
        #expect(configuration.database.connection.user == "u")
        #expect(configuration.database.connection.password == "p w")
        #expect(configuration.database.connection.database == "n")
        #expect(configuration.database.connection.tls?.authorityFile == "/etc/ca.pem")
        #expect(configuration.database.sqlDirectory == "/tmp/sql")
        #expect(configuration.server.instance == "green")
        #expect(configuration.server.socket == "/tmp/m.sock")
        #expect(configuration.server.socketGroup == "www-data")
        #expect(configuration.server.controlSocket == "/run/merganser/control-green.sock")
        #expect(configuration.server.threads == 3)
        #expect(configuration.server.drainLimit == .seconds(5))
        #expect(configuration.server.queueLimit == nil)
        #expect(configuration.server.slowStatement == nil)
        #expect(configuration.server.stateDirectory == "/tmp/state")
        #expect(configuration.server.logLevel == .debug)
    }

    @Test func aProviderMayBeForBrowsersAlone() throws {
        let configuration = try Configuration.load(
            environment: good.setting(["MERGANSER_APPLE_AUDIENCES": "", "MERGANSER_APPLE_WEB_CLIENT_ID": "web"]))
        #expect(configuration.providers.mapValues(\.audiences) == [.apple: ["web"]])
        let both = try Configuration.load(
            environment: good.setting(["MERGANSER_APPLE_WEB_CLIENT_ID": "com.example.app"]))
        #expect(both.providers.mapValues(\.audiences) == [.apple: ["com.example.app"]])
    }

    @Test(arguments: badValues) func namesTheVariableAndWhatToSet(_ bad: BadValue) {
        #expect(problems(good.setting(bad.variables)) == [bad.problem])
    }

    @Test func reportsEverythingAtOnceInTheOrderOfTheTable() {
        let found = problems([
            "MERGANSER_THREADS": "many", "MERGANSER_SERVER_KEY": "short", "MERGANSER_LINK_BY_EMAIL": "always",
        ])
        #expect(
            found == [
                "MERGANSER_ISSUER: is not set; set it (form: URL)",
                "MERGANSER_SERVER_KEY: is neither hexadecimal nor base64; make a key with: openssl rand -hex 32",
                "MERGANSER_LINK_BY_EMAIL: is \"always\"; set one of: authoritative, verified, never",
                "MERGANSER_ATTACHMENT_DIR: is not set; set it (form: path)",
                "MERGANSER_ATTACHMENT_SECRET: is not set; set it (form: 32 bytes, hex or base64), "
                    + "or MERGANSER_ATTACHMENT_SECRET_FILE to the path of a file that holds it",
                "MERGANSER_THREADS: is \"many\"; set a whole number from 1 to 1024",
            ])
    }

    @Test func anEmptyValueCountsAsNone() throws {
        let environment = good.setting([
            "MERGANSER_SERVER_KEY_PREVIOUS": "", "MERGANSER_THREADS": "", "MERGANSER_GOOGLE_AUDIENCES": "",
        ])
        let configuration = try Configuration.load(environment: environment)
        #expect(configuration.previousServerKey == nil)
        #expect(configuration.providers.count == 1)
        #expect(
            problems(good.setting(["MERGANSER_SERVER_KEY": ""])) == [
                "MERGANSER_SERVER_KEY: is not set; set it (form: 32 bytes, hex or base64), "
                    + "or MERGANSER_SERVER_KEY_FILE to the path of a file that holds it"
            ])
    }

    @Test func anEmptyCountryHeaderSwitchesCountriesOff() throws {
        let configuration = try Configuration.load(environment: good.setting(["MERGANSER_COUNTRY_HEADER": ""]))
        #expect(configuration.front.countryHeader == nil)
    }

    @Test(arguments: [
        "http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "https://localhost:8443", "http://127.9.9.9",
    ])
    func developmentStandsOnALoopbackIssuer(_ issuer: String) throws {
        let environment = good.setting(["MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": issuer])
        #expect(try Configuration.load(environment: environment).deployment.issuer.description == issuer)
    }

    @Test func theDatabaseAloneNeedsNothingElse() throws {
        let database = try DatabaseSettings.load(environment: ["MERGANSER_DATABASE_HOST": "::1"])
        #expect(database.connection.address == .tcp(host: "::1", port: 3306))
        #expect(throws: ConfigurationError.self) {
            try DatabaseSettings.load(environment: ["MERGANSER_DATABASE_HOST": "127.0.0.1.example.com"])
        }
    }

    @Test func warnsOfNamesNobodyReads() {
        let warnings = Configuration.warnings(environment: [
            "MERGANSER_ISUER": "s3cret", "MERGANSER_SERVERKEY_FILE": "s3cret", "MERGANSER_COLOR": "s3cret",
            "MERGANSER_ISSUER_FILE": "s3cret", "MERGANSER_PORT": "8080", "MERGANSER_TEST_DATABASE_SOCKET": "/x",
            "MERGANSER_SERVER_KEY_FILE": "/x", "MERGANSER_ISSUER": "x", "PATH": "/bin", "MERGANSER_URL": "x",
            "MERGANSER_DB": "x", "MERGANSER_PROJECT_ID": "x", "MERGANSER_BUNDLE_ID": "x", "MERGANSER_CLIENT_KEY": "x",
            "MERGANSER_IMPORT_KEY": "x", "MERGANSER_AGENT_KEY": "x",
        ])
        #expect(
            warnings == [
                "MERGANSER_COLOR is not a variable of this version and is ignored; unset it",
                "MERGANSER_ISSUER_FILE is not a variable of this version and is ignored; unset it",
                "MERGANSER_ISUER is not a variable of this version and is ignored; did you mean MERGANSER_ISSUER?",
                "MERGANSER_SERVERKEY_FILE is not a variable of this version and is ignored; "
                    + "did you mean MERGANSER_SERVER_KEY_FILE?",
            ])
    }
}

/// The fewest settings that production needs.
let good = [
    "MERGANSER_ISSUER": "https://id.example.com",
    "MERGANSER_SERVER_KEY": String(repeating: "ab", count: 32),
    "MERGANSER_APPLE_AUDIENCES": "com.example.app",
    "MERGANSER_ATTACHMENT_DIR": "/srv/attachments",
    "MERGANSER_ATTACHMENT_SECRET": String(repeating: "ef", count: 32),
]

func problems(_ environment: [String: String]) -> [String] {
    do {
        _ = try Configuration.load(environment: environment)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

extension [String: String] {
    func setting(_ changes: [String: String]) -> [String: String] { merging(changes) { $1 } }
}
