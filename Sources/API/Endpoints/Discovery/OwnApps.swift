/// The server's own apps, which open its links instead of the browser (accounts §2.12).
package struct OwnApps: Sendable {
    package struct Android: Sendable {
        package var packageName: String
        /// SHA-256 of the signing certificates: pairs of hexadecimal digits with colons between them.
        package var certificateFingerprints: [String]

        package init(packageName: String, certificateFingerprints: [String]) {
            self.packageName = packageName
            self.certificateFingerprints = certificateFingerprints
        }
    }

    /// Team id and bundle id, such as `A1B2C3D4E5.com.example.app`.
    package var appleAppIDs: [String]
    package var android: Android?

    package init(appleAppIDs: [String] = [], android: Android? = nil) {
        self.appleAppIDs = appleAppIDs
        self.android = android
    }
}
