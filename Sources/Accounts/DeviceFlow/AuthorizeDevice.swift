extension Accounts {
    /// Starts the device flow (RFC 8628 §3.1, §3.2).
    ///
    /// - Parameter scopes: all of them allowed to the application.
    package func authorizeDevice(
        _ scopes: Scopes, for application: Application, in transaction: AccountsTransaction
    ) throws -> DeviceAuthorization {
        let (deviceCode, userCode) = (Secret(.plain), UserCode())
        try transaction.insertDeviceCode(deviceCode, userCode, of: application.id, scopes)
        return DeviceAuthorization(deviceCode: deviceCode.text, userCode: userCode)
    }
}
