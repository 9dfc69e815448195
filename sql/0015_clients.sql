-- What relying parties say about themselves, their keys, and what was seen to be wrong with their requests.

ALTER TABLE applications
    ADD COLUMN app_link_url               VARCHAR(2000) NULL,
    ADD COLUMN backchannel_logout_uri     VARCHAR(2000) NULL,
    ADD COLUMN scope_policy               ENUM ('block', 'log_only', 'alert') NOT NULL DEFAULT 'block',
    ADD COLUMN linked_sub_details         BOOLEAN NOT NULL DEFAULT FALSE,
    -- The secret before the last rotation; it opens until then.
    ADD COLUMN previous_secret_digest     BINARY(32) NULL,
    ADD COLUMN previous_secret_expires_at DATETIME(3) NULL,
    -- What its developer wants changed, by column, until the operator decides; NULL: nothing.
    ADD COLUMN pending_changes            JSON NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

-- What relying parties check the signatures of events with. The newest active key signs.
CREATE TABLE webhook_keys (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id BIGINT UNSIGNED NOT NULL,
    kid            VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- Encrypted; its row identity is `webhook_key:<application_id>:<kid>`.
    sealed_secret  VARBINARY(255) NOT NULL,
    created_at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    retired_at     DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY webhook_keys_application_kid (application_id, kid),
    CONSTRAINT webhook_keys_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- When each kind of fault was last seen in an application's authorize requests: what /diagnose tells.
CREATE TABLE application_faults (
    application_id BIGINT UNSIGNED NOT NULL,
    fault          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    last_seen_at   DATETIME(3) NOT NULL,
    PRIMARY KEY (application_id, fault),
    CONSTRAINT application_faults_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Limits per user, client or target, which all instances share. Those per address are nginx's.
CREATE TABLE rate_limits (
    -- SHA-256 of what is limited and for whom.
    digest     BINARY(32) NOT NULL,
    count      INT UNSIGNED NOT NULL,
    -- The end of the window that is counted.
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (digest),
    KEY rate_limits_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
