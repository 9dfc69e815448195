import TestSupport
import Testing

/// Whatever relying parties are told of is done in one place, which tells them (accounts §3.3). A second place would
/// compile.
@Suite struct EventWriterTests {
    private static let none: Set<String> = []

    @Test func onlyThePromotionMakesAnAccountIdentified() throws {
        let promoting = /(?:SET|,)\s+anonymous = (?:FALSE|0|\?)/
        #expect(
            try Repository.sources(with: promoting, outside: ["Analytics"])
                == ["Accounts/Identities/Promotion.swift"])
    }

    @Test func onlyTheRevocationOfAGrantEndsIt() throws {
        #expect(
            try Repository.sources(with: /UPDATE grants SET revoked_at = \?/)
                == ["Accounts/Account/DisconnectApp.swift"])
        #expect(try Repository.sources(with: /DELETE (?:\w+ )?FROM grants/) == Self.none)
    }

    @Test func onlyTheRevocationOfAFamilyEndsIt() throws {
        #expect(
            try Repository.sources(with: /UPDATE refresh_families SET revoked_at/)
                == ["Accounts/Tokens/RevokeFamily.swift"])
        // With its grant, whose revocation emits; of somebody who is cut off, who emits; by an undo, which emits; by itself,
        // where the rule that calls it emits; at its relying party's own wish, which is no event.
        #expect(
            try Repository.sources(with: /revokeFamilies\(of:/)
                == [
                    "Accounts/Account/DisconnectApp.swift", "Accounts/Administration/RevokeSessions.swift",
                    "Accounts/Undo/MergeUndo.swift",
                ])
        #expect(
            try Repository.sources(with: /transaction\.revoke\(family\)/)
                == ["Accounts/Tokens/RevokeFamily.swift", "Accounts/Tokens/RevokeToken.swift"])
    }

    /// A swap deletes the account it absorbed, with the events that accounts §1.9 names. Nothing else does but a purge and a
    /// prune, in one place.
    @Test func onlySwapsAndErasuresDeleteAccounts() throws {
        #expect(
            try Repository.sources(with: /DELETE FROM users\b/)
                == ["Accounts/Deletion/EraseUser.swift", "Accounts/Swap/SwapAnonymousAccount.swift"])
        #expect(
            try Repository.sources(with: /\berase\(/) == [
                "Accounts/Deletion/EraseUser.swift", "Accounts/Deletion/PruneAnonymous.swift",
                "Accounts/Deletion/PurgeUser.swift",
            ])
    }

    @Test func onlyTheDeletionAndTheRestorationMoveAccountsThere() throws {
        let setting = /SET (?:\w+ = [^,"]+, )*deleted_at =/
        #expect(
            try Repository.sources(with: setting, outside: ["Analytics"])
                == ["Accounts/Deletion/DeleteAccount.swift", "Accounts/Deletion/RestoreUser.swift"])
    }

    @Test func onlyARetirementEndsAWebhookKey() throws {
        #expect(
            try Repository.sources(with: /UPDATE webhook_keys SET retired_at/)
                == ["Accounts/Applications/RetireWebhookKey.swift"])
    }

    @Test func onlyTheOutboxNumbersEvents() throws {
        #expect(
            try Repository.sources(with: /INTO webhook_outbox|UPDATE application_event_counters/)
                == ["Accounts/Events/Outbox.swift"])
    }
}
