import Testing

/// One wrong setting, and the line that reports it.
struct BadValue: CustomTestStringConvertible, Sendable {
    let variables: [String: String]
    let problem: String

    init(_ variables: [String: String], _ problem: String) {
        self.variables = variables
        self.problem = problem
    }

    var testDescription: String { problem }
}

private let development = ["MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": "http://127.0.0.1:8080"]

let badValues =
    issuers + keys + providers + mail + brand + apps + analytics + databases + servers + [
        BadValue(
            ["MERGANSER_ENVIRONMENT": "staging"],
            "MERGANSER_ENVIRONMENT: is \"staging\"; set one of: production, development"),
        BadValue(
            ["MERGANSER_PAK_TTL_DAYS": "-1"], "MERGANSER_PAK_TTL_DAYS: is \"-1\"; set a whole number from 0 to 3650"),
        BadValue(
            ["MERGANSER_PAK_TTL_DAYS": "30d"], "MERGANSER_PAK_TTL_DAYS: is \"30d\"; set a whole number from 0 to 3650"),
        BadValue(
            ["MERGANSER_LOGIN_HISTORY_DAYS": "0"],
            "MERGANSER_LOGIN_HISTORY_DAYS: is \"0\"; set a whole number from 1 to 3650"),
        BadValue(
            ["MERGANSER_UNDO_DAYS": "3651"], "MERGANSER_UNDO_DAYS: is \"3651\"; set a whole number from 0 to 3650"),
        BadValue(
            ["MERGANSER_DEV_KEYS_DIRECTORY": "/keys"],
            "MERGANSER_DEV_KEYS_DIRECTORY: is only for MERGANSER_ENVIRONMENT=development; unset it"),
    ]

private let brand = [
    BadValue(
        ["MERGANSER_BRAND_NAME": "a\nb"], "MERGANSER_BRAND_NAME: is \"a?b\"; set 1 to 60 characters on one line"),
    BadValue(["MERGANSER_BRAND_NAME": " "], "MERGANSER_BRAND_NAME: is \" \"; set 1 to 60 characters on one line"),
    BadValue(
        ["MERGANSER_BRAND_LOGO": "logo.svg"], "MERGANSER_BRAND_LOGO: is \"logo.svg\"; set an absolute path"),
    BadValue(
        ["MERGANSER_BRAND_LOGO": "/nowhere/logo.svg"],
        "MERGANSER_BRAND_LOGO: names \"/nowhere/logo.svg\", which cannot be read; set the path of a file this process can "
            + "read"),
    BadValue(
        ["MERGANSER_BRAND_LOGO": "/etc/passwd"],
        "MERGANSER_BRAND_LOGO: names \"/etc/passwd\", which is neither a PNG nor an SVG in UTF-8"),
    BadValue(
        ["MERGANSER_BRAND_ACCENT": "green"],
        "MERGANSER_BRAND_ACCENT: is \"green\"; set #rrggbb, or #rrggbb,#rrggbb for light and dark pages"),
    BadValue(
        ["MERGANSER_BRAND_ACCENT": "#0a6b63,#ffffff,#ffffff"],
        "MERGANSER_BRAND_ACCENT: is \"#0a6b63,#ffffff,#ffffff\"; set #rrggbb, or #rrggbb,#rrggbb for light and dark pages"
    ),
    BadValue(
        ["MERGANSER_BRAND_ACCENT": "#ffff00"],
        "MERGANSER_BRAND_ACCENT: is \"#ffff00\": the accent #ffff00 on the sheet #ffffff of light pages has a contrast of "
            + "1.0:1; 4.5:1 is the least; set a darker color for light pages, a lighter one for dark pages"),
    BadValue(
        ["MERGANSER_BRAND_SUPPORT_URL": "http://example.com"],
        "MERGANSER_BRAND_SUPPORT_URL: is \"http://example.com\"; set an https URL, such as https://example.com/help"),
    BadValue(
        ["MERGANSER_BRAND_PRIVACY_URL": "javascript:x"],
        "MERGANSER_BRAND_PRIVACY_URL: is \"javascript:x\"; set an https URL, such as https://example.com/help"),
]

private let issuers =
    [
        ("id.example.com", "set a URL such as https://id.example.com"),
        ("ftp://id.example.com", "set a URL such as https://id.example.com"),
        ("https://", "set a URL such as https://id.example.com"),
        ("https://me@id.example.com", "set a URL such as https://id.example.com"),
        ("https://id.example.com:0", "set a URL such as https://id.example.com"),
        ("https://id.example.com:", "set a URL such as https://id.example.com"),
        ("https://id.example.com#x", "set a URL such as https://id.example.com"),
        ("https://id example.com", "set a URL such as https://id.example.com"),
        ("https://íd.example.com", "set a URL such as https://id.example.com"),
        ("https://id.example.com/", "set scheme and host only, without the slash at the end"),
        ("https://id.example.com/id", "set scheme and host only, without a path"),
        ("https://id.example.com?x", "set scheme and host only, without a path"),
        ("https://id..example.com", "set a URL such as https://id.example.com"),
        ("https://id.example.com:+443", "set a URL such as https://id.example.com"),
        ("https://127.0.0.256", "set a URL such as https://id.example.com"),
        ("https://Id.example.com", "set https://id.example.com, as it is compared byte for byte"),
        ("https://id.example.com.", "set https://id.example.com, as it is compared byte for byte"),
        ("https://id%2Eexample.com", "set https://id.example.com, as it is compared byte for byte"),
        ("https://id.example.com:443", "set https://id.example.com, as it is compared byte for byte"),
        ("https://id.example.com:08443", "set https://id.example.com:8443, as it is compared byte for byte"),
        ("https://[2001:DB8:0::1]", "set https://[2001:db8::1], as it is compared byte for byte"),
        ("https://2130706433", "set https://127.0.0.1, as it is compared byte for byte"),
        ("http://id.example.com", "set an https URL, or MERGANSER_ENVIRONMENT=development"),
        ("http://127.0.0.1:8080", "set an https URL, or MERGANSER_ENVIRONMENT=development"),
    ].map { issuer, mend in BadValue(["MERGANSER_ISSUER": issuer], "MERGANSER_ISSUER: is \"\(issuer)\"; \(mend)") }
    + ["id.example.com", "127.0.0.1.example.com", "127.0.0.256.example", "10.0.0.1", "[::2]"].map { host in
        BadValue(
            ["MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": "http://\(host):8080"],
            "MERGANSER_ENVIRONMENT: is development, but the host of MERGANSER_ISSUER, \"\(host)\", is not a loopback; "
                + "set production, or an issuer such as http://127.0.0.1:8080")
    }

private let mail =
    [
        "smtp.example.com", "https://smtp.example.com", "smtp://", "smtps://user@smtp.example.com",
        "smtps://smtp.example.com/", "smtps://smtp.example.com:0", "smtps://smtp example.com",
        "SMTPS://smtp.example.com",
        "smtp:smtp.example.com", "smtps://smtp.example.com\nQUIT",
    ].map { sender in
        BadValue(
            ["MERGANSER_OTP_SENDER": sender, "MERGANSER_MAIL_FROM": "id@example.com"],
            "MERGANSER_OTP_SENDER: is \"\(sender.replacing("\n", with: "?"))\"; set "
                + "smtps://HOST or smtp://HOST, with :PORT if it is not the usual one, or in development spool: and the "
                + "path of a folder")
    }
    + ["id", "id@", "id@example.com\nBcc: eve@example.com", "<id@example.com>", "베아@example.com", "a b@example.com"]
    .map { from in
        BadValue(
            ["MERGANSER_OTP_SENDER": "smtps://smtp.example.com", "MERGANSER_MAIL_FROM": from],
            "MERGANSER_MAIL_FROM: is \"\(from.replacing("\n", with: "?"))\"; set an "
                + "address, such as merganser@example.com")
    } + [
        BadValue(
            ["MERGANSER_OTP_SENDER": "smtps://smtp.example.com"],
            "MERGANSER_MAIL_FROM: is not set; set the address that mail comes from"),
        BadValue(
            ["MERGANSER_OTP_SENDER": "spool:/mail"],
            "MERGANSER_OTP_SENDER: is \"spool:/mail\", which is only for MERGANSER_ENVIRONMENT=development; set a mail "
                + "server"),
        BadValue(
            development.merging(["MERGANSER_OTP_SENDER": "spool:mail"]) { $1 },
            "MERGANSER_OTP_SENDER: is \"mail\"; set an absolute path"),
        BadValue(
            development.merging(["MERGANSER_OTP_SENDER": "spool:/mail", "MERGANSER_SMTP_CA_FILE": "/ca"]) { $1 },
            "MERGANSER_SMTP_CA_FILE: is only for a mail server, but MERGANSER_OTP_SENDER is a folder; unset it"),
        BadValue(
            ["MERGANSER_MAIL_FROM": "id@example.com"],
            "MERGANSER_MAIL_FROM: is only for MERGANSER_OTP_SENDER; unset it, or set the sender"),
        BadValue(
            [
                "MERGANSER_OTP_SENDER": "smtp://smtp.example.com", "MERGANSER_MAIL_FROM": "id@example.com",
                "MERGANSER_SMTP_USER": "u",
            ], "MERGANSER_SMTP_PASSWORD: is not set, but MERGANSER_SMTP_USER is; set both, or neither"),
        BadValue(
            [
                "MERGANSER_OTP_SENDER": "smtp://smtp.example.com", "MERGANSER_MAIL_FROM": "id@example.com",
                "MERGANSER_SMTP_PASSWORD": "p",
            ], "MERGANSER_SMTP_USER: is not set, but MERGANSER_SMTP_PASSWORD is; set both, or neither"),
        BadValue(
            [
                "MERGANSER_OTP_SENDER": "smtp://smtp.example.com", "MERGANSER_MAIL_FROM": "id@example.com",
                "MERGANSER_SMTP_CA_FILE": "ca.pem",
            ], "MERGANSER_SMTP_CA_FILE: is \"ca.pem\"; set an absolute path"),
    ]

private let apps =
    ["com.example.app", "A1B2C3D4E.com.example", "a1b2c3d4e5.com.example", "A1B2C3D4E5", "A1B2C3D4E5.com..x"].map {
        app in
        BadValue(
            ["MERGANSER_AASA_APP_IDS": app],
            "MERGANSER_AASA_APP_IDS: has the member \"\(app)\"; set team and bundle, such as A1B2C3D4E5.com.example.app"
        )
    } + [
        BadValue(
            ["MERGANSER_ASSETLINKS_PACKAGE": "com", "MERGANSER_ASSETLINKS_FINGERPRINTS": fingerprint],
            "MERGANSER_ASSETLINKS_PACKAGE: is \"com\"; set an application id, such as com.example.app"),
        BadValue(
            ["MERGANSER_ASSETLINKS_PACKAGE": "com.example", "MERGANSER_ASSETLINKS_FINGERPRINTS": "14:6D"],
            "MERGANSER_ASSETLINKS_FINGERPRINTS: has the member \"14:6D\"; set SHA-256 fingerprints as keytool -list "
                + "prints them, 14:6D:E9:…"),
        BadValue(
            ["MERGANSER_ASSETLINKS_PACKAGE": "com.example"],
            "MERGANSER_ASSETLINKS_FINGERPRINTS: is not set, but MERGANSER_ASSETLINKS_PACKAGE is; set both, or neither"),
        BadValue(
            ["MERGANSER_ASSETLINKS_FINGERPRINTS": fingerprint],
            "MERGANSER_ASSETLINKS_PACKAGE: is not set, but MERGANSER_ASSETLINKS_FINGERPRINTS is; set both, or neither"),
        BadValue(
            ["MERGANSER_RESTORE_WITHIN_GRACE": "yes"], "MERGANSER_RESTORE_WITHIN_GRACE: is \"yes\"; set one of: on, off"
        ),
        BadValue(
            ["MERGANSER_ANONYMOUS_INACTIVE_DAYS": "-1"],
            "MERGANSER_ANONYMOUS_INACTIVE_DAYS: is \"-1\"; set a whole number from 0 to 3650"),
        BadValue(
            ["MERGANSER_AUTO_APPROVE_APPLICATIONS": "yes"],
            "MERGANSER_AUTO_APPROVE_APPLICATIONS: is \"yes\"; set one of: on, off"),
        BadValue(
            ["MERGANSER_AGENTS_BEARER_ONLY": "false"], "MERGANSER_AGENTS_BEARER_ONLY: is \"false\"; set one of: on, off"
        ),
    ]
private let fingerprint = (1...32).map { _ in "14" }.joined(separator: ":")

private let keys =
    [
        ("", "z?", "is neither hexadecimal nor base64"),
        ("", String(repeating: "ab", count: 31), "is 31 instead of 32 bytes long"),
        ("", String(repeating: "ab", count: 33), "is 33 instead of 32 bytes long"),
        ("", "c2hvcnQ=", "is 5 instead of 32 bytes long"),
        ("", "not a key!", "is neither hexadecimal nor base64"),
        ("_PREVIOUS", "z?", "is neither hexadecimal nor base64"),
    ].map { suffix, value, wrong in
        BadValue(
            ["MERGANSER_SERVER_KEY\(suffix)": value],
            "MERGANSER_SERVER_KEY\(suffix): \(wrong); make a key with: openssl rand -hex 32")
    } + [
        BadValue(
            ["MERGANSER_SERVER_KEY_PREVIOUS": String(repeating: "AB", count: 32)],
            "MERGANSER_SERVER_KEY_PREVIOUS: is the same key as MERGANSER_SERVER_KEY; unset it or set the old key"),
        BadValue(
            ["MERGANSER_SERVER_KEY_FILE": "/run/key"],
            "MERGANSER_SERVER_KEY: and MERGANSER_SERVER_KEY_FILE are both set; unset one of them"),
    ]

private let providers = [
    BadValue(
        ["MERGANSER_APPLE_AUDIENCES": ""],
        "MERGANSER_APPLE_AUDIENCES: is not set, nor is MERGANSER_GOOGLE_AUDIENCES; "
            + "set the client ids of at least one provider"),
    BadValue(
        ["MERGANSER_APPLE_AUDIENCES": "a,,b"],
        "MERGANSER_APPLE_AUDIENCES: is \"a,,b\" with an empty member; set members separated by single commas"),
    BadValue(
        ["MERGANSER_GOOGLE_ISSUERS": ","],
        "MERGANSER_GOOGLE_ISSUERS: is \",\" with an empty member; set members separated by single commas"),
    BadValue(
        ["MERGANSER_APPLE_JWKS_URL": "appleid.apple.com"],
        "MERGANSER_APPLE_JWKS_URL: is \"appleid.apple.com\"; set an https URL"),
    BadValue(
        ["MERGANSER_APPLE_JWKS_URL": "http://127.0.0.1/keys"],
        "MERGANSER_APPLE_JWKS_URL: is \"http://127.0.0.1/keys\"; set an https URL"),
    BadValue(
        development.setting(["MERGANSER_GOOGLE_JWKS_URL": "http://keys.example.com/"]),
        "MERGANSER_GOOGLE_JWKS_URL: is \"http://keys.example.com/\"; set an https URL, "
            + "or http to localhost, 127.0.0.1 or [::1]"),
    // It would be refused when it is asked.
    BadValue(
        development.setting(["MERGANSER_APPLE_JWKS_URL": "http://127.0.0.2/keys"]),
        "MERGANSER_APPLE_JWKS_URL: is \"http://127.0.0.2/keys\"; set an https URL, "
            + "or http to localhost, 127.0.0.1 or [::1]"),
    BadValue(
        ["MERGANSER_GOOGLE_AUTHORIZE_URL": "http://127.0.0.1/authorize"],
        "MERGANSER_GOOGLE_AUTHORIZE_URL: is \"http://127.0.0.1/authorize\"; set an https URL"),
    BadValue(
        ["MERGANSER_APPLE_AUTHORIZE_URL": "https://apple.example/authorize?a=b"],
        "MERGANSER_APPLE_AUTHORIZE_URL: is \"https://apple.example/authorize?a=b\"; set a URL without a query"),
]

private let analytics = [
    BadValue(
        ["MERGANSER_ATTACHMENT_DIR": "attachments"],
        "MERGANSER_ATTACHMENT_DIR: is \"attachments\"; set an absolute path"),
    BadValue(
        ["MERGANSER_ATTACHMENT_MAX_BYTES": "250M"],
        "MERGANSER_ATTACHMENT_MAX_BYTES: is \"250M\"; set a whole number from 1 to 1099511627776"),
    BadValue(
        ["MERGANSER_ATTACHMENT_SECRET": "short"],
        "MERGANSER_ATTACHMENT_SECRET: is neither hexadecimal nor base64; make a key with: openssl rand -hex 32"),
    BadValue(
        ["MERGANSER_ATTACHMENT_SENDER": "apache"],
        "MERGANSER_ATTACHMENT_SENDER: is \"apache\"; set one of: nginx, worker"),
    BadValue(
        ["MERGANSER_UPLOAD_PATIENCE_SECONDS": "0"],
        "MERGANSER_UPLOAD_PATIENCE_SECONDS: is \"0\"; set a whole number from 1 to 3600"),
    BadValue(
        ["MERGANSER_ATTRIBUTION_ENDPOINT": "http://127.0.0.1/"],
        "MERGANSER_ATTRIBUTION_ENDPOINT: is \"http://127.0.0.1/\"; set an https URL"),
    BadValue(
        development.setting(["MERGANSER_ATTRIBUTION_ENDPOINT": "http://ads.example.com/"]),
        "MERGANSER_ATTRIBUTION_ENDPOINT: is \"http://ads.example.com/\"; set an https URL, "
            + "or http to localhost, 127.0.0.1 or [::1]"),
    BadValue(
        ["MERGANSER_COUNTRY_HEADER": "CF IPCountry"],
        "MERGANSER_COUNTRY_HEADER: is \"CF IPCountry\"; set the name of a header, such as CF-IPCountry"),
    BadValue(
        ["MERGANSER_TOMBSTONE_GRACE_SECONDS": "-1"],
        "MERGANSER_TOMBSTONE_GRACE_SECONDS: is \"-1\"; set a whole number from 0 to 86400"),
]

private let databases = [
    BadValue(
        ["MERGANSER_DATABASE_SOCKET": "mysqld.sock"],
        "MERGANSER_DATABASE_SOCKET: is \"mysqld.sock\"; set an absolute path"),
    BadValue(
        ["MERGANSER_DATABASE_SOCKET": "/run/m.sock", "MERGANSER_DATABASE_HOST": "127.0.0.1"],
        "MERGANSER_DATABASE_HOST: and MERGANSER_DATABASE_SOCKET are both set; unset one of them"),
    BadValue(
        ["MERGANSER_DATABASE_HOST": "db.example.com"],
        "MERGANSER_DATABASE_CA_FILE: is not set; "
            + "for the remote host \"db.example.com\" set the path of its CA certificates"),
    BadValue(
        ["MERGANSER_DATABASE_PORT": "3306"],
        "MERGANSER_DATABASE_PORT: is only for MERGANSER_DATABASE_HOST; unset it, or set the host"),
    BadValue(
        ["MERGANSER_DATABASE_CA_FILE": "/ca.pem"],
        "MERGANSER_DATABASE_CA_FILE: is only for MERGANSER_DATABASE_HOST; unset it, or set the host"),
    BadValue(
        ["MERGANSER_DATABASE_HOST": "localhost", "MERGANSER_DATABASE_PORT": "65536"],
        "MERGANSER_DATABASE_PORT: is \"65536\"; set a whole number from 1 to 65535"),
]

private let servers = [
    BadValue(
        ["MERGANSER_INSTANCE": "Blue"], "MERGANSER_INSTANCE: is \"Blue\"; set 1 to 32 of a-z, 0-9 and -, such as blue"),
    BadValue(
        ["MERGANSER_INSTANCE": "../blue"],
        "MERGANSER_INSTANCE: is \"../blue\"; set 1 to 32 of a-z, 0-9 and -, such as blue"),
    BadValue(["MERGANSER_SOCKET": "m.sock"], "MERGANSER_SOCKET: is \"m.sock\"; set an absolute path"),
    BadValue(
        ["MERGANSER_SOCKET": "/" + String(repeating: "x", count: 90)],
        "MERGANSER_SOCKET: has 91 bytes; set a path of at most 90 bytes, because a socket's path must be short"),
    BadValue(
        ["MERGANSER_CONTROL_SOCKET": "/run/merganser/merganser.sock"],
        "MERGANSER_CONTROL_SOCKET: is the same path as MERGANSER_SOCKET; set another one"),
    BadValue(["MERGANSER_THREADS": "0"], "MERGANSER_THREADS: is \"0\"; set a whole number from 1 to 1024"),
    BadValue(
        ["MERGANSER_THREADS": "99999999999999999999"],
        "MERGANSER_THREADS: is \"99999999999999999999\"; set a whole number from 1 to 1024"),
    BadValue(
        ["MERGANSER_DRAIN_LIMIT_SECONDS": "1.5"],
        "MERGANSER_DRAIN_LIMIT_SECONDS: is \"1.5\"; set a whole number from 1 to 3600"),
    BadValue(
        ["MERGANSER_QUEUE_LIMIT_MILLISECONDS": "60001"],
        "MERGANSER_QUEUE_LIMIT_MILLISECONDS: is \"60001\"; set a whole number from 0 to 60000"),
    BadValue(
        ["MERGANSER_SLOW_STATEMENT_MILLISECONDS": "60001"],
        "MERGANSER_SLOW_STATEMENT_MILLISECONDS: is \"60001\"; set a whole number from 0 to 60000"),
    BadValue(["MERGANSER_STATE_DIRECTORY": "state"], "MERGANSER_STATE_DIRECTORY: is \"state\"; set an absolute path"),
    BadValue(
        ["MERGANSER_LOG_LEVEL": "loud\n\u{1B}[31m"],
        "MERGANSER_LOG_LEVEL: is \"loud??[31m\"; "
            + "set one of: trace, debug, info, notice, warning, error, critical"),
]
