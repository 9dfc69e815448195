-- Apple's refresh tokens, which are kept only to be revoked, and Apple's notifications about people.
-- compatible-since: 25

ALTER TABLE identities
    -- The refresh token that Apple gave for the last authorization code, sealed; NULL: none. Row identity: `apple_token`, a
    -- line feed and the handle. All three are set, or none.
    ADD COLUMN apple_client_id    VARCHAR(255) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ADD COLUMN apple_token_handle BINARY(16) NULL,
    ADD COLUMN apple_token        VARBINARY(2048) NULL,
    -- Whether Apple forwards mail to the relay address; NULL: it has not said.
    ADD COLUMN forwards_email     BOOL NULL,
    -- By Apple's clock, the times before which Apple's notifications do not count; NULL: linked_at, or another provider. That
    -- of the newest one about mail, or of the link.
    ADD COLUMN forwarding_changed_at DATETIME(3) NULL,
    -- The iat of the newest identity token that proved the identity.
    ADD COLUMN consented_at       DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

-- Tokens that Apple is to revoke, and new ones that wait for their identity. A row is gone once Apple has taken it, when the
-- last attempt has failed, or when the identity is there.
CREATE TABLE apple_revocations (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    client_id       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- As at the identity that it comes from.
    token_handle    BINARY(16) NOT NULL,
    token           VARBINARY(2048) NOT NULL,
    -- SHA-256 of the identity's sub. A purge sets it to NULL, and user_id, so that the row names nobody.
    sub_digest      BINARY(32) NULL,
    -- Who had the identity; NULL: nobody. No foreign key: the row outlives the account.
    user_id         BIGINT UNSIGNED NULL,
    attempts        INT UNSIGNED NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NOT NULL,
    -- Of the dispatcher that sends it now; the lease ends at next_attempt_at.
    lease           BINARY(16) NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    KEY apple_revocations_due (next_attempt_at),
    -- Tells whether one of them has failed.
    KEY apple_revocations_attempts (attempts),
    KEY apple_revocations_sub (sub_digest),
    KEY apple_revocations_user (user_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Notifications of Apple that were received, so that each acts once. They name nobody.
CREATE TABLE apple_notifications (
    -- SHA-256 of the jti.
    digest     BINARY(32) NOT NULL,
    -- From when on the same token is refused anyway.
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (digest),
    KEY apple_notifications_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
