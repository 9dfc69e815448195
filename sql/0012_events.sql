-- Events that SDKs send, partitioned by the month of the event's time. `merganserctl retention` creates partitions for
-- future months and drops old ones. The first partition takes all older events, and the last one has no end.
-- Partitioned tables cannot have foreign keys.

CREATE TABLE events (
    id                 BINARY(16) NOT NULL,
    app_id             BINARY(16) NOT NULL,
    client_event_id    BINARY(16) NULL,
    session_id         BINARY(16) NOT NULL,
    app_user_id        BIGINT UNSIGNED NULL,
    api_key_id         BINARY(16) NULL,
    level              ENUM ('info', 'debug', 'warn', 'error') NOT NULL,
    source_module      MEDIUMTEXT NULL,
    message            MEDIUMTEXT NOT NULL,
    screen_name        VARCHAR(255) NULL,
    custom_attributes  JSON NULL,
    environment        ENUM ('ios', 'ipados', 'macos', 'watchos', 'android', 'web', 'backend') NULL,
    os_version         VARCHAR(50) NULL,
    app_version        VARCHAR(50) NULL,
    sdk_name           VARCHAR(50) NULL,
    sdk_version        VARCHAR(50) NULL,
    device_model       VARCHAR(100) NULL,
    build_number       VARCHAR(50) NULL,
    locale             VARCHAR(20) NULL,
    preferred_language VARCHAR(35) NULL,
    country_code       CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    is_dev             BOOLEAN NOT NULL,
    timestamp          DATETIME(3) NOT NULL,
    received_at        DATETIME(3) NOT NULL,
    PRIMARY KEY (id, timestamp),
    -- Makes ingest exactly-once.
    UNIQUE KEY events_client_event (app_id, client_event_id, timestamp),
    -- Has the id, by which lists are sorted last. For a partitioned table, the server does not see that every index
    -- ends with the primary key, so it would sort all rows. Lists show either production or development.
    KEY events_user (app_user_id, is_dev, timestamp, id),
    -- The columns after the id are those that counts need.
    KEY events_app (app_id, is_dev, timestamp, id, level, environment, session_id, app_user_id),
    KEY events_session (session_id, is_dev, timestamp, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin
    PARTITION BY RANGE COLUMNS (timestamp) (PARTITION later VALUES LESS THAN (MAXVALUE));

CREATE TABLE metric_events (
    id              BINARY(16) NOT NULL,
    app_id          BINARY(16) NOT NULL,
    client_event_id BINARY(16) NULL,
    session_id      BINARY(16) NOT NULL,
    app_user_id     BIGINT UNSIGNED NULL,
    api_key_id      BINARY(16) NULL,
    metric_slug     VARCHAR(255) NOT NULL,
    phase           ENUM ('start', 'complete', 'fail', 'cancel', 'record') NOT NULL,
    tracking_id     BINARY(16) NULL,
    duration_ms     INT NULL,
    error           MEDIUMTEXT NULL,
    attributes      JSON NULL,
    environment     ENUM ('ios', 'ipados', 'macos', 'watchos', 'android', 'web', 'backend') NULL,
    os_version      VARCHAR(50) NULL,
    app_version     VARCHAR(50) NULL,
    sdk_name        VARCHAR(50) NULL,
    sdk_version     VARCHAR(50) NULL,
    device_model    VARCHAR(100) NULL,
    build_number    VARCHAR(50) NULL,
    country_code    CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    is_dev          BOOLEAN NOT NULL,
    timestamp       DATETIME(3) NOT NULL,
    received_at     DATETIME(3) NOT NULL,
    PRIMARY KEY (id, timestamp),
    KEY metric_events_slug (app_id, metric_slug, timestamp),
    KEY metric_events_user (app_user_id, timestamp),
    KEY metric_events_client_event (app_id, client_event_id, timestamp),
    KEY metric_events_app (app_id, timestamp)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin
    PARTITION BY RANGE COLUMNS (timestamp) (PARTITION later VALUES LESS THAN (MAXVALUE));

CREATE TABLE funnel_events (
    id                BINARY(16) NOT NULL,
    app_id            BINARY(16) NOT NULL,
    client_event_id   BINARY(16) NULL,
    session_id        BINARY(16) NOT NULL,
    app_user_id       BIGINT UNSIGNED NULL,
    api_key_id        BINARY(16) NULL,
    step_name         VARCHAR(255) NOT NULL,
    message           MEDIUMTEXT NOT NULL,
    screen_name       VARCHAR(255) NULL,
    custom_attributes JSON NULL,
    environment       ENUM ('ios', 'ipados', 'macos', 'watchos', 'android', 'web', 'backend') NULL,
    os_version        VARCHAR(50) NULL,
    app_version       VARCHAR(50) NULL,
    sdk_name          VARCHAR(50) NULL,
    sdk_version       VARCHAR(50) NULL,
    device_model      VARCHAR(100) NULL,
    build_number      VARCHAR(50) NULL,
    country_code      CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    is_dev            BOOLEAN NOT NULL,
    timestamp         DATETIME(3) NOT NULL,
    received_at       DATETIME(3) NOT NULL,
    PRIMARY KEY (id, timestamp),
    KEY funnel_events_step (app_id, step_name, timestamp),
    KEY funnel_events_user (app_user_id, timestamp),
    KEY funnel_events_client_event (app_id, client_event_id, timestamp),
    KEY funnel_events_app (app_id, timestamp)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin
    PARTITION BY RANGE COLUMNS (timestamp) (PARTITION later VALUES LESS THAN (MAXVALUE));

-- Rows before a table's horizon are not live. They remain until their partition is dropped.
CREATE TABLE retention_horizons (
    table_name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    horizon    DATETIME(3) NOT NULL,
    PRIMARY KEY (table_name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

INSERT INTO retention_horizons (table_name, horizon)
VALUES ('events', '1970-01-01'), ('metric_events', '1970-01-01'), ('funnel_events', '1970-01-01');

CREATE TABLE issues (
    id                BINARY(16) NOT NULL,
    app_id            BINARY(16) NOT NULL,
    project_id        BINARY(16) NOT NULL,
    status            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    title             VARCHAR(1000) NOT NULL,
    source_module     MEDIUMTEXT NULL,
    is_dev            BOOLEAN NOT NULL,
    occurrence_count  BIGINT UNSIGNED NOT NULL DEFAULT 0,
    unique_user_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
    created_at        DATETIME(3) NOT NULL,
    updated_at        DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY issues_project_status (project_id, status),
    KEY issues_app (app_id),
    CONSTRAINT issues_app_fk FOREIGN KEY (app_id) REFERENCES apps (id),
    CONSTRAINT issues_project_fk FOREIGN KEY (project_id) REFERENCES projects (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE issue_occurrences (
    id           BINARY(16) NOT NULL,
    issue_id     BINARY(16) NOT NULL,
    session_id   BINARY(16) NOT NULL,
    app_user_id  BIGINT UNSIGNED NULL,
    event_id     BINARY(16) NULL,
    app_version  VARCHAR(50) NULL,
    environment  VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    country_code CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    timestamp    DATETIME(3) NOT NULL,
    created_at   DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY issue_occurrences_session (issue_id, session_id),
    KEY issue_occurrences_user (app_user_id),
    CONSTRAINT issue_occurrences_issue_fk FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE,
    CONSTRAINT issue_occurrences_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
