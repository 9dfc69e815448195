import MerganserClient

/// The parts that `MerganserAuth.configure` takes if the app names none.
enum DefaultParts {
    static var store: any SecureStore {
        #if canImport(Security)
        KeychainStore()
        #else
        FileStore(application: "merganser")
        #endif
    }

    static var browser: any Browser {
        #if canImport(AuthenticationServices)
        SystemBrowser()
        #else
        NoBrowser()
        #endif
    }
}
