-- The owners of analytics data: teams, their projects, the projects' apps, and the API keys of the apps.
--
-- Ids are the 16 bytes of a UUID. MariaDB's UUID type refuses a quarter of all UUIDs, by their version and variant.

CREATE TABLE teams (
    id         BINARY(16) NOT NULL,
    name       VARCHAR(200) NOT NULL,
    created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE projects (
    id                             BINARY(16) NOT NULL,
    team_id                        BINARY(16) NOT NULL,
    name                           VARCHAR(200) NOT NULL,
    slug                           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    color                          VARCHAR(32) NULL,
    -- What happens if somebody claims an id that another user has claimed.
    claim_conflict                 ENUM ('latest', 'refuse') NOT NULL DEFAULT 'latest',
    -- NULL: the specification's default.
    retention_days_events          INT UNSIGNED NULL,
    retention_days_metrics         INT UNSIGNED NULL,
    retention_days_funnels         INT UNSIGNED NULL,
    attachment_user_quota_bytes    BIGINT UNSIGNED NULL,
    attachment_project_quota_bytes BIGINT UNSIGNED NULL,
    -- The sum of size_bytes of its rows in event_attachments, and their number. Triggers on that table keep both.
    attachment_bytes               BIGINT UNSIGNED NOT NULL DEFAULT 0,
    attachment_files               BIGINT UNSIGNED NOT NULL DEFAULT 0,
    created_at                     DATETIME(3) NOT NULL,
    deleted_at                     DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY projects_team_slug (team_id, slug),
    CONSTRAINT projects_team_fk FOREIGN KEY (team_id) REFERENCES teams (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE apps (
    id                         BINARY(16) NOT NULL,
    team_id                    BINARY(16) NOT NULL,
    project_id                 BINARY(16) NOT NULL,
    name                       VARCHAR(200) NOT NULL,
    platform                   ENUM ('apple', 'android', 'web', 'backend') NOT NULL,
    bundle_id                  VARCHAR(255) COLLATE utf8mb4_nopad_bin NULL,
    -- A sorted array of language tags, and whether the SDK or an operator set it.
    supported_languages        JSON NULL,
    supported_languages_source VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    created_at                 DATETIME(3) NOT NULL,
    deleted_at                 DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY apps_project (project_id),
    KEY apps_team (team_id),
    CONSTRAINT apps_team_fk FOREIGN KEY (team_id) REFERENCES teams (id),
    CONSTRAINT apps_project_fk FOREIGN KEY (project_id) REFERENCES projects (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE api_keys (
    id            BINARY(16) NOT NULL,
    secret_sha256 BINARY(32) NOT NULL,
    key_type      ENUM ('client', 'import', 'agent') NOT NULL,
    -- The prefix and the last characters, by which operators recognize a key.
    prefix        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    last4         VARCHAR(4) NOT NULL,
    -- Set for client and import keys.
    app_id        BINARY(16) NULL,
    team_id       BINARY(16) NOT NULL,
    name          VARCHAR(200) NOT NULL,
    -- An array of permission names.
    permissions   JSON NOT NULL,
    last_used_at  DATETIME(3) NULL,
    expires_at    DATETIME(3) NULL,
    created_at    DATETIME(3) NOT NULL,
    deleted_at    DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY api_keys_secret (secret_sha256),
    KEY api_keys_app (app_id),
    KEY api_keys_team (team_id),
    CONSTRAINT api_keys_app_fk FOREIGN KEY (app_id) REFERENCES apps (id),
    CONSTRAINT api_keys_team_fk FOREIGN KEY (team_id) REFERENCES teams (id),
    CONSTRAINT api_keys_scope CHECK ((key_type = 'agent') = (app_id IS NULL))
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
