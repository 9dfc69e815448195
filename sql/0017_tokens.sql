-- What codes are bound to, refresh families with their rotation, and access tokens revoked before their time.

ALTER TABLE users
    -- Imported, or written by an operator's verifier.
    ADD COLUMN phone_number   VARCHAR(32) NULL,
    ADD COLUMN address        VARCHAR(500) NULL,
    ADD COLUMN postal_code    VARCHAR(32) NULL,
    -- 3: a person was checked by a provider. What follows from address and number is not stored.
    ADD COLUMN verified_level TINYINT UNSIGNED NOT NULL DEFAULT 0,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE absorbed_subs
    -- The event that told the relying party; NULL when there was none.
    ADD COLUMN source_event_id VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE authorization_codes
    ADD COLUMN redirect_uri      VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN code_challenge    CHAR(43) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN nonce             TEXT COLLATE utf8mb4_nopad_bin NULL,
    ADD COLUMN scopes            TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN authenticated_at  DATETIME(3) NULL,
    -- Of the tokens made from it.
    ADD COLUMN refresh_family_id BIGINT UNSIGNED NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    -- What an access token's jti begins with.
    ADD COLUMN handle             BINARY(16) NULL,
    ADD COLUMN scopes             TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN authenticated_at   DATETIME(3) NULL,
    ADD COLUMN current_digest     BINARY(32) NULL,
    -- Of the current token; when the family was revoked before that: then.
    ADD COLUMN current_expires_at DATETIME(3) NULL,
    -- Of the token that was current before the last rotation.
    ADD COLUMN predecessor_digest BINARY(32) NULL,
    -- The last answer, encrypted, for its predecessor's repetition. Row identity: `refresh_family:<id>`.
    ADD COLUMN sealed_answer      MEDIUMBLOB NULL,
    -- Until when it is repeated; NULL once it is gone.
    ADD COLUMN answer_expires_at  DATETIME(3) NULL,
    -- The scope parameter that the last answer was made for; NULL: there was none.
    ADD COLUMN answered_scope     TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    ADD UNIQUE KEY refresh_families_handle (handle),
    ADD KEY refresh_families_current_expires (current_expires_at),
    ADD KEY refresh_families_answer_expires (answer_expires_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Every refresh token of a family, the current one included, until it expires: a retired one that comes again is a theft.
CREATE TABLE refresh_tokens (
    digest            BINARY(32) NOT NULL,
    refresh_family_id BIGINT UNSIGNED NOT NULL,
    expires_at        DATETIME(3) NOT NULL,
    PRIMARY KEY (digest),
    KEY refresh_tokens_family (refresh_family_id),
    KEY refresh_tokens_expires (expires_at),
    CONSTRAINT refresh_tokens_family_fk FOREIGN KEY (refresh_family_id) REFERENCES refresh_families (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Access tokens that were revoked one by one, until they would have expired.
CREATE TABLE revoked_access_tokens (
    jti        BINARY(24) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (jti),
    KEY revoked_access_tokens_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
