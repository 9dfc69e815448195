import Foundation

/// What an event tells of an error: attributes `_error_*`, by which the server tells issues apart.
enum ErrorAttributes {
    static let deepestCause = 5

    /// - Parameter message: what the caller was doing; blank if it says nothing.
    /// - Returns: the event's message and attributes.
    static func of(
        _ error: any Error, message: String?, stack: [String]
    ) -> (message: String, attributes: [String: String?]) {
        var attributes: [String: String?] = ["_error_type": String(reflecting: type(of: error))]
        if !stack.isEmpty { attributes["_error_stack"] = stack.joined(separator: "\n") }
        let bridged = error as NSError
        attributes["_error_domain"] = bridged.domain
        attributes["_error_code"] = String(bridged.code)
        var cause = bridged.userInfo[NSUnderlyingErrorKey] as? NSError
        for depth in 1...deepestCause {
            guard let present = cause else { break }
            attributes["_error_cause_\(depth)_type"] = present.domain
            attributes["_error_cause_\(depth)_message"] = present.localizedDescription
            cause = present.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return (Self.message(for: error, given: message), attributes)
    }

    private static func message(for error: any Error, given: String?) -> String {
        if let given = given?.trimmingCharacters(in: .whitespacesAndNewlines), !given.isEmpty { return given }
        let localized = error.localizedDescription
        // Foundation's stand-in for an error without a text: "The operation … (Module.Type error 1.)"
        let isStandIn = localized.contains("(") && localized.contains("error ") && localized.hasSuffix(".)")
        let described = String(describing: error)
        return localized.isEmpty || isStandIn && !described.isEmpty ? described : localized
    }
}
