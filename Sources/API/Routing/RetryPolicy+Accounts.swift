import Database

extension RetryPolicy {
    /// A duplicate here means that another request was faster: the repeat sees its row (accounts §0.4).
    static let accounts = RetryPolicy(
        racyKeys: [
            "users_live_login_email", "identities_provider_sub", "devices_device_uuid", "grants_application_sub",
            "device_codes_user_code",
        ])
}
