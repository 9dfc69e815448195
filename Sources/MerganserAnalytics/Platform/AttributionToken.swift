#if canImport(AdServices)
internal import AdServices
#endif

/// Apple's token by which the server asks Apple Search Ads; nil if there is none, as on Linux.
func attributionToken() -> String? {
    #if canImport(AdServices)
    return try? AAAttribution.attributionToken()
    #else
    return nil
    #endif
}
