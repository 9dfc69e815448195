-- Whose data the analytics surface keeps: teams, their projects, the projects' apps, and the keys those call with.
--
-- Ids are the 16 bytes of a UUID: MariaDB's UUID type refuses a quarter of them, by their version and variant.

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
    -- What a claim of an id that somebody else claimed does.
    claim_conflict                 ENUM ('latest', 'refuse') NOT NULL DEFAULT 'latest',
    -- NULL: the default of the specification.
    retention_days_events          INT UNSIGNED NULL,
    retention_days_metrics         INT UNSIGNED NULL,
    retention_days_funnels         INT UNSIGNED NULL,
    attachment_user_quota_bytes    BIGINT UNSIGNED NULL,
    attachment_project_quota_bytes BIGINT UNSIGNED NULL,
    -- What its rows in event_attachments declare, and how many there are; triggers there keep both.
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
    -- A sorted array of language tags, and who set it.
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
    -- With the last characters: what operators recognize a key by.
    prefix        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    last4         VARCHAR(4) NOT NULL,
    -- Client and import keys.
    app_id        BINARY(16) NULL,
    team_id       BINARY(16) NOT NULL,
    name          VARCHAR(200) NOT NULL,
    -- An array of permissions.
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
