-- Data that codes are bound to, refresh families with their rotation, and access tokens that were revoked early.

ALTER TABLE users
    -- Imported, or written by an operator's own verification.
    ADD COLUMN phone_number   VARCHAR(32) NULL,
    ADD COLUMN address        VARCHAR(500) NULL,
    ADD COLUMN postal_code    VARCHAR(32) NULL,
    -- 3 if a provider has verified the person. Levels that follow from address and number are not stored.
    ADD COLUMN verified_level TINYINT UNSIGNED NOT NULL DEFAULT 0,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE absorbed_subs
    -- The event that informed the relying party; NULL if there was none.
    ADD COLUMN source_event_id VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE authorization_codes
    ADD COLUMN redirect_uri      VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN code_challenge    CHAR(43) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN nonce             TEXT COLLATE utf8mb4_nopad_bin NULL,
    ADD COLUMN scopes            TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN authenticated_at  DATETIME(3) NULL,
    -- The family of the tokens that the code was exchanged for.
    ADD COLUMN refresh_family_id BIGINT UNSIGNED NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    -- The first part of an access token's jti.
    ADD COLUMN handle             BINARY(16) NULL,
    ADD COLUMN scopes             TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN authenticated_at   DATETIME(3) NULL,
    ADD COLUMN current_digest     BINARY(32) NULL,
    -- When the current token expires, or when the family was revoked, if that was earlier.
    ADD COLUMN current_expires_at DATETIME(3) NULL,
    -- The digest of the token before the last rotation.
    ADD COLUMN predecessor_digest BINARY(32) NULL,
    -- The last answer, encrypted, which is repeated if its predecessor is sent again. Bound to `refresh_family:<id>`.
    ADD COLUMN sealed_answer      MEDIUMBLOB NULL,
    -- When the predecessor alone no longer gets the answer; NULL after that.
    ADD COLUMN answer_expires_at  DATETIME(3) NULL,
    -- The scope parameter of the request for the last answer; NULL if there was none.
    ADD COLUMN answered_scope     TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    ADD UNIQUE KEY refresh_families_handle (handle),
    ADD KEY refresh_families_current_expires (current_expires_at),
    ADD KEY refresh_families_answer_expires (answer_expires_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- All refresh tokens of a family until they expire, including the current one. If an older one is sent again, it was
-- stolen.
CREATE TABLE refresh_tokens (
    digest            BINARY(32) NOT NULL,
    refresh_family_id BIGINT UNSIGNED NOT NULL,
    expires_at        DATETIME(3) NOT NULL,
    PRIMARY KEY (digest),
    KEY refresh_tokens_family (refresh_family_id),
    KEY refresh_tokens_expires (expires_at),
    CONSTRAINT refresh_tokens_family_fk FOREIGN KEY (refresh_family_id) REFERENCES refresh_families (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Access tokens that were revoked one by one, until they expire.
CREATE TABLE revoked_access_tokens (
    jti        BINARY(24) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (jti),
    KEY revoked_access_tokens_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
