-- Relying parties, and for each one a counter that gives its events an order of commits.

CREATE TABLE applications (
    id                     BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    client_id              VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    name                   VARCHAR(200) NOT NULL,
    client_type            ENUM ('public', 'confidential') NOT NULL,
    secret_digest          BINARY(32) NULL,
    redirect_uris          JSON NOT NULL DEFAULT '[]',
    -- Separated by spaces, like OAuth's scope parameter.
    allowed_scopes         TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    status                 ENUM ('pending', 'active', 'suspended') NOT NULL DEFAULT 'pending',
    owner_user_id          BIGINT UNSIGNED NULL,
    webhook_url            VARCHAR(2000) NULL,
    allow_anonymous_grants BOOLEAN NOT NULL DEFAULT FALSE,
    notify_anonymous_swap  BOOLEAN NOT NULL DEFAULT FALSE,
    first_party            BOOLEAN NOT NULL DEFAULT FALSE,
    created_at             DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY applications_client_id (client_id),
    UNIQUE KEY applications_secret_digest (secret_digest),
    KEY applications_owner (owner_user_id),
    CONSTRAINT applications_owner_fk FOREIGN KEY (owner_user_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE application_event_counters (
    application_id BIGINT UNSIGNED NOT NULL,
    -- The 26 characters of the newest event's ULID; empty before the first event.
    last_ulid      VARCHAR(26) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    PRIMARY KEY (application_id),
    CONSTRAINT application_event_counters_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
