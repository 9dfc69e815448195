import MariaDB

/// Every column whose values the server key seals; `SecretsTests` knows when one is missing.
extension SealedColumn {
    /// In the order in which a rotation goes through them.
    package static let all = [
        signingKeys, webhookKeys, idempotencyRecords, refreshFamilies, providerSignIns, mergeTokens, agentApprovals,
        pushApprovals, identities, appleRevocations, mergeJournalParts,
    ]

    static let signingKeys = SealedColumn(
        "signing_keys", "sealed_private_key", .lasting(named: "CONCAT('signing key ', kid)"), for: "kid"
    ) { row in SigningKey.row(try row.read()) }

    static let webhookKeys = SealedColumn(
        "webhook_keys", "sealed_secret", .lasting(named: "CONCAT('webhook key ', kid)"), for: "application_id, kid"
    ) { row in
        let application = try row.read(Application.ID.self)
        return WebhookKey.row(try row.read(), of: application)
    }

    static let idempotencyRecords = SealedColumn(
        "idempotency_records", "answer", .short, key: .callerAndKey, for: "caller_digest, key_digest"
    ) { row in IdempotencyKey.row(caller: try row.read(), key: try row.read()) }

    static let refreshFamilies = SealedColumn("refresh_families", "sealed_answer", .short, for: "id") { row in
        TokenFamily.row(try row.read())
    }

    static let providerSignIns = SealedColumn("provider_sign_ins", "sealed", .short, for: "id") { row in
        ProviderTrip.row(try row.read())
    }

    static let mergeTokens = SealedColumn("merge_tokens", "sealed_token", .short, for: "digest") { row in
        MergeToken.row(try row.read())
    }

    static let agentApprovals = SealedColumn(
        "agent_approvals", "sealed_request", .lastingMany, for: "public_id"
    ) { row in AgentApproval.row(try row.read()) }

    static let pushApprovals = SealedColumn(
        "push_approval_requests", "sealed_number", .short, for: "public_id"
    ) { row in PushApproval.row(try row.read()) }

    static let identities = SealedColumn(
        "identities", "apple_token", .lastingMany, for: "apple_token_handle"
    ) { row in SealedAppleGrant.row(try row.read()) }

    static let appleRevocations = SealedColumn(
        "apple_revocations", "token", .lastingMany, for: "token_handle"
    ) { row in SealedAppleGrant.row(try row.read()) }

    /// Sealed values of other columns are opened before they go into a journal, so they are sealed again with it.
    static let mergeJournalParts = SealedColumn(
        "merge_journal_parts", "sealed", .lastingMany, for: "journal_id, kind, number"
    ) { row in
        let journal = try row.read(MergeJournal.ID.self)
        let kind = try row.read(String.self)
        return MergeJournal.partRow(journal, kind: kind, number: try row.read())
    }
}
