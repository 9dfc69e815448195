// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target: warnings are errors, imports are as narrow as they can be.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
/// Everything above the wrappers of C libraries: no pointer compiles without `unsafe`.
let safe: [SwiftSetting] = strict + [.strictMemorySafety()]

/// Each folder of rules and endpoints opens with a README.md, which SwiftPM has to be told is no source.
func readmes(_ folders: [String], in parent: String = ".") -> [String] {
    folders.map { "\(parent)/\($0)/README.md" }
}

/// What scripts/release builds names its commit.
let commit =
    Context.environment["MERGANSER_COMMIT"].map { [CSetting.define("MERGANSER_COMMIT", to: "\"\($0)\"")] } ?? []

let package = Package(
    name: "merganser",
    // For the client library; the server runs on Linux.
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .library(name: "MerganserAuth", targets: ["MerganserAuth"]),
        .library(name: "MerganserAnalytics", targets: ["MerganserAnalytics"]),
        .executable(name: "merganserd", targets: ["merganserd"]),
        .executable(name: "merganserctl", targets: ["merganserctl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // C libraries: a module map and a shim header each.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CFastCGI", pkgConfig: "fcgi", providers: [.apt(["libfcgi-dev"])]),
        .systemLibrary(name: "CMariaDB", pkgConfig: "libmariadb", providers: [.apt(["libmariadb-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Wrappers: the only targets that see a C library.
        .target(
            name: "FastCGI", dependencies: ["CFastCGI", "Files", "HTTP", "Text", "Threads"], swiftSettings: strict),
        .target(name: "Fetch", dependencies: ["CCurl", "Text", "Threads"], swiftSettings: strict),
        .target(name: "Files", dependencies: ["Time"], swiftSettings: strict),
        .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: strict),
        .target(
            name: "Mail", dependencies: ["CCurl", "Files", "JSON", "OpenSSL", "Text", "Threads", "Time"],
            swiftSettings: strict),
        .target(name: "MariaDB", dependencies: ["CMariaDB", "Text", "Time"], swiftSettings: strict),
        .target(name: "OpenSSL", dependencies: ["COpenSSL", "Text", "Threads"], swiftSettings: strict),

        // The version.
        .target(name: "CCommit", cSettings: commit),
        .target(name: "Release", dependencies: ["CCommit"], swiftSettings: safe),

        // Threads and waiting.
        .target(name: "Threads", swiftSettings: strict),

        // Values and services.
        .target(name: "Time", swiftSettings: safe),
        .target(name: "Text", swiftSettings: safe),
        .target(name: "HTTP", dependencies: ["Text"], swiftSettings: safe),
        .target(name: "ErrorCodes", dependencies: ["HTTP"], swiftSettings: safe),
        .target(name: "JSON", dependencies: ["Text"], swiftSettings: safe),
        .target(name: "JOSE", dependencies: ["JSON", "OpenSSL", "Text"], swiftSettings: safe),
        .target(
            name: "IdentityTokens", dependencies: ["Fetch", "JOSE", "JSON", "OpenSSL", "Text", "Threads", "Time"],
            swiftSettings: safe),
        .target(
            name: "Push", dependencies: ["Fetch", "Files", "JOSE", "JSON", "OpenSSL", "Text", "Threads", "Time"],
            swiftSettings: safe),
        .target(name: "Database", dependencies: ["MariaDB", "Time"], swiftSettings: safe),
        .target(name: "Migrations", dependencies: ["Database", "MariaDB", "OpenSSL", "Time"], swiftSettings: safe),

        // The bounded contexts, the surface, the programs.
        .target(
            name: "Accounts",
            dependencies: [
                "Database", "ErrorCodes", "Fetch", "IdentityTokens", "JOSE", "JSON", "MariaDB", "OpenSSL", "Text",
                "Threads", "Time",
            ],
            exclude: readmes([
                "Account", "Administration", "Agents", "AppleLifecycle", "Applications", "Audit", "Authorization",
                "Deletion", "Delivery", "DeviceFlow", "Devices", "Events", "Export", "Idempotency", "Identities",
                "Limits", "LoginHistory", "Logout", "Merge", "Moves", "Operations", "PushApprovals", "Secrets",
                "SigningKeys", "Swap", "Tokens", "Transactions", "Undo", "WebSignIn",
            ]),
            swiftSettings: safe),
        .target(
            name: "Analytics",
            dependencies: [
                "Database", "Fetch", "Files", "JOSE", "JSON", "MariaDB", "OpenSSL", "Text", "Threads", "Time",
            ],
            exclude: readmes([
                "Attachments", "Claims", "Events", "Export", "Feedback", "Keys", "Lists", "Owners", "Projects",
                "Questionnaires", "Transactions", "Undo", "Users", "Users/Attribution", "Values",
            ]),
            swiftSettings: safe),
        .target(
            name: "AnalyticsJobs", dependencies: ["Analytics", "Database", "JSON", "MariaDB", "Time"],
            exclude: ["README.md"],
            swiftSettings: safe),
        .target(
            name: "Pages", dependencies: ["ErrorCodes", "HTTP", "IdentityTokens", "OpenSSL", "Text", "Time"],
            swiftSettings: safe),
        .target(
            name: "AccountReplies", dependencies: ["Accounts", "JSON", "Time"], exclude: ["README.md"],
            swiftSettings: safe),
        .target(
            name: "SignInClaims",
            dependencies: ["Accounts", "Analytics", "Database", "Files", "JSON", "MariaDB", "OpenSSL", "Text", "Time"],
            exclude: ["README.md"], swiftSettings: safe),
        .target(
            name: "API",
            dependencies: [
                "AccountReplies", "Accounts", "Analytics", "Database", "ErrorCodes", "Fetch", "Files", "Gzip", "HTTP",
                "IdentityTokens", "JOSE", "JSON", "Mail", "MariaDB", "Migrations", "OpenSSL", "Pages", "Push",
                "SignInClaims", "Text", "Threads", "Time",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: readmes(["Replies", "Routing"])
                + readmes(
                    [
                        "Account", "AccountPage", "Administration", "Agents", "AppleLifecycle", "Applications",
                        "Assets", "Authorization", "Console", "Deletion", "Delivery", "DeviceFlow", "Devices",
                        "Discovery", "Events", "Identities", "LoginHistory", "Logout", "Merge", "PushApprovals", "Swap",
                        "Tokens", "WebSignIn",
                    ], in: "Endpoints")
                + readmes(
                    [
                        "Attachments", "Claims", "Events", "Feedback", "Projects", "Questionnaires", "Users",
                    ], in: "Endpoints/Analytics"),
            swiftSettings: safe),
        .target(
            name: "Configuration",
            dependencies: [
                "Accounts", "Analytics", "Fetch", "IdentityTokens", "Mail", "MariaDB", "OpenSSL", "Pages", "Push",
                "Text",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: safe),
        .target(
            name: "Logs", dependencies: ["JSON", "Time", .product(name: "Logging", package: "swift-log")],
            swiftSettings: safe),
        .executableTarget(
            name: "merganserd",
            dependencies: [
                "API", "Accounts", "Analytics", "AnalyticsJobs", "Configuration", "Database", "ErrorCodes", "FastCGI",
                "Files", "HTTP", "IdentityTokens", "JSON", "Logs", "Mail", "MariaDB", "Migrations", "Push", "Release",
                "Threads", "Time",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "merganserctl",
            dependencies: [
                "AccountReplies", "Accounts", "Analytics", "AnalyticsJobs", "Configuration", "Database", "FastCGI",
                "Fetch", "Files", "HTTP", "IdentityTokens", "JOSE", "JSON", "MariaDB", "Migrations", "OpenSSL",
                "Release", "SignInClaims", "Text", "Threads", "Time",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // The client library, which knows the server by its wire only: no target above, no C library.
        .target(name: "MerganserClient", exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "MerganserAuth",
            dependencies: [
                "MerganserClient", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            exclude: ["README.md"] + readmes(["Account", "Claims", "Platform", "Requests", "Session", "Storage"]),
            swiftSettings: strict),
        .target(
            name: "MerganserAnalytics",
            dependencies: ["MerganserClient", .product(name: "Crypto", package: "swift-crypto")],
            exclude: ["README.md"] + readmes(["Events", "Identity", "Platform", "Queue", "Requests", "Upload"]),
            swiftSettings: strict),

        // Tests: real MariaDB, real nginx, real processes.
        .target(
            name: "TestSupport",
            dependencies: [
                "Database", "Fetch", "IdentityTokens", "JOSE", "JSON", "MariaDB", "Migrations", "OpenSSL", "Text",
                "Threads", "Time",
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .executableTarget(
            name: "client-process", dependencies: ["MerganserAuth", "MerganserClient"],
            path: "Tests/Fixtures/client-process", swiftSettings: strict),
        .executableTarget(
            name: "analytics-process", dependencies: ["MerganserAnalytics"], path: "Tests/Fixtures/analytics-process",
            swiftSettings: strict),
        .executableTarget(
            name: "client-bench", dependencies: ["MerganserAnalytics", "MerganserClient"], path: "Benchmarks/client",
            swiftSettings: strict),
        .executableTarget(
            name: "fastcgi-echo", dependencies: ["FastCGI", "HTTP", "Threads"], path: "Tests/Fixtures/fastcgi-echo",
            swiftSettings: strict),
        .target(
            name: "FaultProxy", dependencies: ["TestSupport", "Threads"], path: "Tests/FaultProxy",
            swiftSettings: strict),
        .target(
            name: "Fuzzing",
            dependencies: [
                "API", "Accounts", "FastCGI", "Fetch", "Gzip", "HTTP", "IdentityTokens", "JOSE", "JSON", "Mail",
                "OpenSSL",
                "TestSupport", "Text", "Threads", "Time",
            ],
            path: "Tests/Fuzzing", exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(
            name: "AccountsTests",
            dependencies: ["Accounts", "IdentityTokens", "JOSE", "JSON", "OpenSSL", "TestSupport", "Text", "Time"],
            swiftSettings: strict),
        .testTarget(
            name: "AnalyticsTests",
            dependencies: [
                "Analytics", "Database", "Files", "JSON", "MariaDB", "OpenSSL", "TestSupport", "Text", "Threads",
                "Time",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "AnalyticsJobsTests", dependencies: ["AnalyticsJobs", "MariaDB", "TestSupport", "Time"],
            swiftSettings: strict),
        .testTarget(
            name: "APITests",
            dependencies: [
                "API", "Accounts", "Analytics", "AnalyticsJobs", "Database", "ErrorCodes", "Fetch", "HTTP",
                "IdentityTokens", "JOSE", "JSON", "Mail", "MariaDB", "OpenSSL", "Pages", "Push", "SignInClaims",
                "TestSupport",
                "Text", "Threads", "Time", "merganserd",
                .product(name: "Logging", package: "swift-log"),
            ], exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Accounts", "Analytics", "Configuration", "IdentityTokens", "Logs", "Mail", "MariaDB", "OpenSSL",
                "Pages", "Push", "TestSupport", "Time",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DatabaseTests", dependencies: ["Database", "MariaDB", "TestSupport", "Time"], swiftSettings: strict),
        .testTarget(
            name: "FastCGITests", dependencies: ["FastCGI", "TestSupport", "Threads", "fastcgi-echo"],
            swiftSettings: strict),
        .testTarget(name: "FetchTests", dependencies: ["Fetch", "TestSupport", "Threads"], swiftSettings: strict),
        .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "FuzzingTests", dependencies: ["Fuzzing", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "GzipTests", dependencies: ["Gzip"], swiftSettings: strict),
        .testTarget(
            name: "IdentityTokensTests",
            dependencies: ["IdentityTokens", "JOSE", "JSON", "OpenSSL", "TestSupport", "Text", "Threads", "Time"],
            swiftSettings: strict),
        .testTarget(
            name: "JOSETests", dependencies: ["JOSE", "JSON", "OpenSSL", "TestSupport", "Text"], swiftSettings: strict),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
        .testTarget(
            name: "MerganserAuthTests",
            dependencies: [
                "FaultProxy", "JSON", "MariaDB", "MerganserAuth", "MerganserClient", "TestSupport", "client-process",
                "merganserctl",
                "merganserd",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MerganserAnalyticsTests",
            dependencies: [
                "FaultProxy", "Gzip", "JSON", "MariaDB", "MerganserAnalytics", "MerganserClient", "TestSupport",
                "analytics-process", "merganserctl", "merganserd",
            ],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "MailTests", dependencies: ["JSON", "Mail", "TestSupport", "Text", "Time"], swiftSettings: strict),
        .testTarget(
            name: "MigrationsTests", dependencies: ["MariaDB", "Migrations", "OpenSSL", "TestSupport", "Time"],
            swiftSettings: strict),
        .testTarget(name: "OpenSSLTests", dependencies: ["OpenSSL"], swiftSettings: strict),
        .testTarget(
            name: "PagesTests", dependencies: ["ErrorCodes", "IdentityTokens", "OpenSSL", "Pages", "Text", "Time"],
            swiftSettings: strict),
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "API", "Accounts", "Analytics", "Configuration", "Database", "FastCGI", "Fetch", "IdentityTokens",
                "JOSE", "JSON", "Mail", "MariaDB", "Migrations", "OpenSSL", "Push", "Release", "TestSupport", "Text",
                "Threads",
                "fastcgi-echo", "merganserd", "merganserctl",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PushTests",
            dependencies: ["Fetch", "JOSE", "JSON", "OpenSSL", "Push", "TestSupport", "Text", "Threads", "Time"],
            swiftSettings: strict),
        .testTarget(name: "TextTests", dependencies: ["OpenSSL", "Text"], swiftSettings: strict),
        .testTarget(name: "ThreadsTests", dependencies: ["Threads"], swiftSettings: strict),
        .testTarget(name: "TimeTests", dependencies: ["Time"], swiftSettings: strict),
    ]
)

// Needs libFuzzer at its link, which scripts/fuzz adds.
if Context.environment["MERGANSER_FUZZING"] != nil {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fixtures/CLibFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["CLibFuzzer", "Fuzzing"], path: "Tests/Fixtures/fuzz", swiftSettings: strict),
    ]
}

// Under a sanitizer only these tests run, so only they and what they need are compiled.
if let chosen = Context.environment["MERGANSER_TEST_TARGETS"] {
    var kept = Set<String>()
    var waiting = chosen.split(separator: "|").map(String.init)
    while let name = waiting.popLast() {
        guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name })
        else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { waiting.append(dependency) }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}

// Builds documentation, for scripts/docs alone: otherwise every build would fetch it.
if Context.environment["MERGANSER_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
