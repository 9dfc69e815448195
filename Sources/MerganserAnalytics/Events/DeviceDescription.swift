import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The device, its system and the app, as each event describes them.
public struct DeviceDescription: Hashable, Sendable {
    /// What the server knows as the environment of an event (analytics §3.2).
    public enum Environment: String, Sendable {
        /// An app on a system of Apple.
        case ios, ipados, macos, watchos
        /// A program elsewhere.
        case backend
    }

    /// What it runs on.
    public var environment: Environment
    /// `17.4.1`
    public var osVersion: String?
    /// For people: `2.1.0`.
    public var appVersion: String?
    /// For developers: `417`.
    public var buildNumber: String?
    /// `iPhone15,2`
    public var deviceModel: String?
    /// What the user sees: `en_US`.
    public var locale: String?
    /// What the user would like to see, whether or not the app has it: `de-DE`.
    public var preferredLanguage: String?
    /// The languages that the app has.
    public var supportedLanguages: [String]

    /// Texts longer than the server takes are cut, since they would cost every event.
    public init(
        environment: Environment, osVersion: String? = nil, appVersion: String? = nil, buildNumber: String? = nil,
        deviceModel: String? = nil, locale: String? = nil, preferredLanguage: String? = nil,
        supportedLanguages: [String] = []
    ) {
        func cut(_ text: String?, _ count: Int) -> String? { text.map { EventEncoder.cut($0, utf16: count) } }
        self.environment = environment
        self.osVersion = cut(osVersion, 50)
        self.appVersion = cut(appVersion, 50)
        self.buildNumber = cut(buildNumber, 50)
        self.deviceModel = cut(deviceModel, 100)
        self.locale = cut(locale, 20)
        self.preferredLanguage = cut(preferredLanguage, 35)
        self.supportedLanguages = supportedLanguages
    }

    /// This device and this app. On Linux the environment is `backend`.
    public static var current: DeviceDescription {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        func information(_ key: String) -> String? { Bundle.main.object(forInfoDictionaryKey: key) as? String }
        return DeviceDescription(
            environment: environment(ofMachine: machine),
            osVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
            appVersion: information("CFBundleShortVersionString"), buildNumber: information("CFBundleVersion"),
            deviceModel: machine, locale: Locale.current.identifier,
            preferredLanguage: Locale.preferredLanguages.first,
            supportedLanguages: Bundle.main.localizations.filter { $0 != "Base" })
    }

    private static var machine: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "Unknown" }
        return withUnsafeBytes(of: &name.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
