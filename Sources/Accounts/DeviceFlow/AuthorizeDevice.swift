extension Accounts {
    /// Begins the flow (RFC 8628 §3.1, §3.2).
    ///
    /// - Parameter scope: the request's parameter, checked as in an authorize request.
    package func authorizeDevice(
        scope: String, for application: Application, in transaction: AccountsTransaction
    ) throws -> DeviceAuthorization {
        let (scopes, dropped) = try application.allow(scope)
        transaction.noteDropped(dropped, for: application)
        let (deviceCode, userCode) = (Secret(.plain), UserCode())
        try transaction.insertDeviceCode(deviceCode, userCode, of: application.id, scopes)
        return DeviceAuthorization(deviceCode: deviceCode.text, userCode: userCode)
    }
}
