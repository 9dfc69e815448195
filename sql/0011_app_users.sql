-- The end users of a project, the anonymous ids that they claimed, and the number of events of each. Apps and projects
-- are only marked as deleted. They have no foreign keys here, because these would make every write lock their rows.

CREATE TABLE app_users (
    id                      BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    public_id               BINARY(16) NOT NULL,
    project_id              BINARY(16) NOT NULL,
    user_id                 VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    is_anonymous            BOOLEAN NOT NULL,
    -- If set, this is a tombstone, and its rows count for the real record that it names.
    merged_into             BIGINT UNSIGNED NULL,
    -- When the latest claim made it a tombstone.
    merged_at               DATETIME(3) NULL,
    -- A JSON object of strings.
    properties              JSON NULL,
    first_seen_at           DATETIME(3) NOT NULL,
    last_seen_at            DATETIME(3) NOT NULL,
    last_country_code       CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    last_app_version        VARCHAR(50) NULL,
    last_sdk_name           VARCHAR(50) NULL,
    last_sdk_version        VARCHAR(50) NULL,
    last_locale             VARCHAR(20) NULL,
    last_preferred_language VARCHAR(35) NULL,
    total_revenue_usd_cents BIGINT NULL,
    revenue_synced_at       DATETIME(3) NULL,
    is_dev                  BOOLEAN NOT NULL DEFAULT FALSE,
    -- The sum of size_bytes of its rows in event_attachments, and their number. Triggers on that table keep both.
    attachment_bytes        BIGINT UNSIGNED NOT NULL DEFAULT 0,
    attachment_files        BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE KEY app_users_project_user (project_id, user_id),
    UNIQUE KEY app_users_public_id (public_id),
    KEY app_users_merged_into (merged_into),
    -- Lists exclude tombstones, and show either production or development.
    KEY app_users_last_seen (project_id, merged_into, is_dev, last_seen_at),
    KEY app_users_first_seen (project_id, merged_into, is_dev, first_seen_at),
    CONSTRAINT app_users_merged_into_fk FOREIGN KEY (merged_into) REFERENCES app_users (id),
    -- Only anonymous records become tombstones.
    CONSTRAINT app_users_tombstone CHECK (merged_into IS NULL OR is_anonymous)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE identity_claims (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    project_id   BINARY(16) NOT NULL,
    anonymous_id VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    app_user_id  BIGINT UNSIGNED NOT NULL,
    -- Increases for each anonymous id and for each user: by a microsecond if the clock has not advanced.
    claimed_at   DATETIME(6) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY identity_claims_claim (project_id, anonymous_id, app_user_id),
    KEY identity_claims_user (app_user_id, claimed_at),
    -- The latest claim of an id decides whose it is.
    KEY identity_claims_latest (project_id, anonymous_id, claimed_at),
    CONSTRAINT identity_claims_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE app_user_apps (
    app_user_id   BIGINT UNSIGNED NOT NULL,
    app_id        BINARY(16) NOT NULL,
    first_seen_at DATETIME(3) NOT NULL,
    last_seen_at  DATETIME(3) NOT NULL,
    PRIMARY KEY (app_user_id, app_id),
    KEY app_user_apps_app (app_id),
    CONSTRAINT app_user_apps_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- A counter changes in the same transaction as the rows that it counts.
CREATE TABLE app_user_event_counts (
    app_user_id BIGINT UNSIGNED NOT NULL,
    -- The first day of the month in which the events happened.
    month       DATE NOT NULL,
    n           BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (app_user_id, month),
    KEY app_user_event_counts_month (month),
    CONSTRAINT app_user_event_counts_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
