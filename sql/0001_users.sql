-- Accounts, the provider identities that sign in to them, and the merges between them.

CREATE TABLE users (
    id                   BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    -- Every merge writes it, because a cluster certifies only rows that were written.
    version              INT UNSIGNED NOT NULL DEFAULT 0,
    anonymous            BOOLEAN NOT NULL DEFAULT FALSE,
    previously_anonymous BOOLEAN NOT NULL DEFAULT FALSE,
    name                 VARCHAR(200) NULL,
    nickname             VARCHAR(200) NULL,
    -- Shown to the user. Not unique, and possibly unverified.
    contact_email        VARCHAR(320) NULL,
    -- Verified, ASCII letters in lower case, never shown. A sign-in may match an account by it …
    login_email          VARCHAR(320) NULL,
    -- … once a provider that is authoritative for the address has vouched for it.
    login_email_authoritative BOOLEAN NOT NULL DEFAULT FALSE,
    role                 ENUM ('user', 'developer', 'admin') NOT NULL DEFAULT 'user',
    custom_claims        JSON NULL,
    created_at           DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    last_active_at       DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    deleted_at           DATETIME(3) NULL,
    purge_at             DATETIME(3) NULL,
    -- Unique among users that are not soft-deleted. Stored, because an index on a virtual column rules out instant
    -- ALTERs.
    live_login_email     VARCHAR(320) AS (IF(deleted_at IS NULL, login_email, NULL)) STORED,
    PRIMARY KEY (id),
    UNIQUE KEY users_live_login_email (live_login_email),
    KEY users_purge_at (purge_at),
    KEY users_inactive (anonymous, last_active_at),
    CONSTRAINT users_login_email_authoritative CHECK (login_email IS NOT NULL OR login_email_authoritative = FALSE)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;

CREATE TABLE identities (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id        BIGINT UNSIGNED NOT NULL,
    provider       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    sub            VARCHAR(255) NOT NULL,
    email          VARCHAR(320) NULL,
    email_verified BOOLEAN NOT NULL DEFAULT FALSE,
    -- Whether the provider is authoritative for the address.
    email_authoritative BOOLEAN NOT NULL DEFAULT FALSE,
    linked_at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY identities_provider_sub (provider, sub),
    KEY identities_user (user_id),
    CONSTRAINT identities_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;

CREATE TABLE identity_links (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    primary_user_id BIGINT UNSIGNED NOT NULL,
    linked_user_id  BIGINT UNSIGNED NOT NULL,
    merged_via      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    idempotency_key VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY identity_links_linked (linked_user_id),
    UNIQUE KEY identity_links_idempotency_key (idempotency_key),
    KEY identity_links_primary (primary_user_id),
    CONSTRAINT identity_links_primary_fk FOREIGN KEY (primary_user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT identity_links_linked_fk FOREIGN KEY (linked_user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT identity_links_not_itself CHECK (primary_user_id <> linked_user_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Merges do not chain: an absorbed account is never a survivor.
CREATE TRIGGER identity_links_flat_insert BEFORE INSERT ON identity_links FOR EACH ROW
BEGIN
    IF EXISTS (SELECT 1 FROM identity_links WHERE linked_user_id = NEW.primary_user_id OR primary_user_id = NEW.linked_user_id) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'identity_links: a linked user cannot be a primary';
    END IF;
END;

CREATE TRIGGER identity_links_flat_update BEFORE UPDATE ON identity_links FOR EACH ROW
BEGIN
    IF EXISTS (SELECT 1 FROM identity_links WHERE id <> NEW.id AND (linked_user_id = NEW.primary_user_id OR primary_user_id = NEW.linked_user_id)) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'identity_links: a linked user cannot be a primary';
    END IF;
END;
