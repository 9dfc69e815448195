extension DeviceDescription {
    /// - Parameter machine: `iPad14,1`
    static func environment(ofMachine machine: String) -> Environment {
        #if targetEnvironment(macCatalyst)
        .macos
        #elseif canImport(UIKit)
        machine.hasPrefix("iPad") ? .ipados : machine.hasPrefix("Watch") ? .watchos : .ios
        #elseif canImport(AppKit)
        .macos
        #else
        .backend
        #endif
    }
}
