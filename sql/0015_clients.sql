-- Data that relying parties provide about themselves, their keys, and faults seen in their requests.

ALTER TABLE applications
    ADD COLUMN app_link_url               VARCHAR(2000) NULL,
    ADD COLUMN backchannel_logout_uri     VARCHAR(2000) NULL,
    ADD COLUMN scope_policy               ENUM ('block', 'log_only', 'alert') NOT NULL DEFAULT 'block',
    ADD COLUMN linked_sub_details         BOOLEAN NOT NULL DEFAULT FALSE,
    -- The secret before the last rotation. It is valid until the time in the next column.
    ADD COLUMN previous_secret_digest     BINARY(32) NULL,
    ADD COLUMN previous_secret_expires_at DATETIME(3) NULL,
    -- Changes that its developer has submitted, by column, until the operator decides; NULL for none.
    ADD COLUMN pending_changes            JSON NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

-- The keys that sign events, so that relying parties can check them. The newest active key signs.
CREATE TABLE webhook_keys (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id BIGINT UNSIGNED NOT NULL,
    kid            VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- Encrypted, bound to `webhook_key:<application_id>:<kid>`.
    sealed_secret  VARBINARY(255) NOT NULL,
    created_at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    retired_at     DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY webhook_keys_application_kid (application_id, kid),
    CONSTRAINT webhook_keys_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- When each kind of fault was last seen in an application's authorization requests. /diagnose shows it.
CREATE TABLE application_faults (
    application_id BIGINT UNSIGNED NOT NULL,
    fault          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    last_seen_at   DATETIME(3) NOT NULL,
    PRIMARY KEY (application_id, fault),
    CONSTRAINT application_faults_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Limits for each user, client or target, shared by all instances. nginx has the limits for each address.
CREATE TABLE rate_limits (
    -- SHA-256 of the limit's name and of its target.
    digest     BINARY(32) NOT NULL,
    count      INT UNSIGNED NOT NULL,
    -- The end of the present window.
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (digest),
    KEY rate_limits_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
