-- Data that people send on purpose: feedback, attachments, answers to questionnaires. If a row was soft-deleted before
-- its anonymous user was claimed, it keeps the anonymous id in frozen_user_id and names no record.

CREATE TABLE feedback (
    id              BINARY(16) NOT NULL,
    app_id          BINARY(16) NOT NULL,
    project_id      BINARY(16) NOT NULL,
    session_id      BINARY(16) NULL,
    app_user_id     BIGINT UNSIGNED NULL,
    frozen_user_id  VARCHAR(255) COLLATE utf8mb4_nopad_bin NULL,
    message         TEXT NOT NULL,
    submitter_name  VARCHAR(255) NULL,
    submitter_email VARCHAR(320) NULL,
    status          VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'new',
    is_dev          BOOLEAN NOT NULL,
    environment     ENUM ('ios', 'ipados', 'macos', 'watchos', 'android', 'web', 'backend') NULL,
    os_version      VARCHAR(50) NULL,
    app_version     VARCHAR(50) NULL,
    sdk_name        VARCHAR(50) NULL,
    sdk_version     VARCHAR(50) NULL,
    device_model    VARCHAR(100) NULL,
    country_code    CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    created_at      DATETIME(3) NOT NULL,
    updated_at      DATETIME(3) NOT NULL,
    deleted_at      DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY feedback_project (project_id, created_at),
    KEY feedback_user (app_user_id),
    KEY feedback_app (app_id, deleted_at, is_dev, created_at),
    CONSTRAINT feedback_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;

CREATE TABLE event_attachments (
    id                BINARY(16) NOT NULL,
    project_id        BINARY(16) NOT NULL,
    app_id            BINARY(16) NOT NULL,
    event_client_id   BINARY(16) NOT NULL,
    event_id          BINARY(16) NULL,
    issue_id          BINARY(16) NULL,
    app_user_id       BIGINT UNSIGNED NULL,
    frozen_user_id    VARCHAR(255) COLLATE utf8mb4_nopad_bin NULL,
    original_filename VARCHAR(255) NOT NULL,
    content_type      VARCHAR(128) NOT NULL,
    size_bytes        BIGINT UNSIGNED NOT NULL,
    sha256            CHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    is_dev            BOOLEAN NOT NULL,
    uploaded_at       DATETIME(3) NULL,
    created_at        DATETIME(3) NOT NULL,
    deleted_at        DATETIME(3) NULL,
    PRIMARY KEY (id),
    -- Finds attachments for events that arrive after them, and the attachments of an event.
    KEY event_attachments_client_event (app_id, event_client_id, event_id),
    KEY event_attachments_client_created (app_id, event_client_id, deleted_at, created_at),
    KEY event_attachments_project (project_id, created_at),
    KEY event_attachments_user (app_user_id, deleted_at),
    KEY event_attachments_sha256 (sha256),
    KEY event_attachments_event (event_id, deleted_at, created_at),
    KEY event_attachments_app (app_id, deleted_at, created_at),
    KEY event_attachments_deleted (deleted_at),
    -- Finds reservations for clean-up.
    KEY event_attachments_pending (uploaded_at, created_at),
    CONSTRAINT event_attachments_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;

-- Triggers add the size of each row to its project and its end user, whether the row is deleted or not. So checking a
-- quota costs the same for any number of rows. A row may change its end user, but not its project or size. If a count
-- is too low already, the triggers continue, and `merganserctl verify` reports it.
--
-- A statement that makes a trigger write app_users or projects cannot read these tables itself: MariaDB refuses it (error
-- 1442).

CREATE TRIGGER event_attachments_added AFTER INSERT ON event_attachments FOR EACH ROW
BEGIN
    UPDATE app_users
    SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
    WHERE id = NEW.app_user_id;
    UPDATE projects
    SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
    WHERE id = NEW.project_id;
END;

CREATE TRIGGER event_attachments_moved AFTER UPDATE ON event_attachments FOR EACH ROW
BEGIN
    IF NOT (NEW.app_user_id <=> OLD.app_user_id) THEN
        UPDATE app_users
        SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
            attachment_files = attachment_files - LEAST(attachment_files, 1)
        WHERE id = OLD.app_user_id;
        UPDATE app_users
        SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
        WHERE id = NEW.app_user_id;
    END IF;
END;

CREATE TRIGGER event_attachments_removed AFTER DELETE ON event_attachments FOR EACH ROW
BEGIN
    UPDATE app_users
    SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
        attachment_files = attachment_files - LEAST(attachment_files, 1)
    WHERE id = OLD.app_user_id;
    UPDATE projects
    SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
        attachment_files = attachment_files - LEAST(attachment_files, 1)
    WHERE id = OLD.project_id;
END;

-- A transaction that stores or removes a file inserts a row and deletes it again, to exclude others that do so with the
-- same content. So the table has only rows of open transactions.
CREATE TABLE attachment_locks (
    sha256 CHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    PRIMARY KEY (sha256)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE questionnaires (
    id          BINARY(16) NOT NULL,
    project_id  BINARY(16) NOT NULL,
    -- If set, only this app shows the questionnaire.
    app_id      BINARY(16) NULL,
    slug        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    name        VARCHAR(200) NOT NULL,
    description TEXT NULL,
    `schema`    JSON NOT NULL,
    is_active   BOOLEAN NOT NULL DEFAULT TRUE,
    created_at  DATETIME(3) NOT NULL,
    updated_at  DATETIME(3) NOT NULL,
    deleted_at  DATETIME(3) NULL,
    live_slug   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin AS (IF(deleted_at IS NULL, slug, NULL)) STORED,
    PRIMARY KEY (id),
    UNIQUE KEY questionnaires_live_slug (project_id, live_slug),
    KEY questionnaires_app (app_id),
    CONSTRAINT questionnaires_project_fk FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT questionnaires_app_fk FOREIGN KEY (app_id) REFERENCES apps (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;

CREATE TABLE questionnaire_responses (
    id               BINARY(16) NOT NULL,
    questionnaire_id BINARY(16) NOT NULL,
    slug             VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    app_id           BINARY(16) NOT NULL,
    project_id       BINARY(16) NOT NULL,
    session_id       BINARY(16) NULL,
    app_user_id      BIGINT UNSIGNED NULL,
    frozen_user_id   VARCHAR(255) COLLATE utf8mb4_nopad_bin NULL,
    answers          JSON NOT NULL,
    schema_snapshot  JSON NULL,
    submitted_at     DATETIME(3) NULL,
    status           ENUM ('draft', 'new', 'in_review', 'addressed', 'dismissed') NOT NULL,
    is_dev           BOOLEAN NOT NULL,
    environment      ENUM ('ios', 'ipados', 'macos', 'watchos', 'android', 'web', 'backend') NULL,
    os_version       VARCHAR(50) NULL,
    app_version      VARCHAR(50) NULL,
    sdk_name         VARCHAR(50) NULL,
    sdk_version      VARCHAR(50) NULL,
    device_model     VARCHAR(100) NULL,
    country_code     CHAR(2) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    created_at       DATETIME(3) NOT NULL,
    updated_at       DATETIME(3) NOT NULL,
    deleted_at       DATETIME(3) NULL,
    -- TRUE for a live row, otherwise NULL, so that a user has one live row for each slug. It does not hold the user,
    -- because a generated column may not use the column of this foreign key.
    is_live          BOOLEAN AS (IF(deleted_at IS NULL, TRUE, NULL)) STORED,
    PRIMARY KEY (id),
    UNIQUE KEY questionnaire_responses_live (project_id, slug, app_user_id, is_live),
    KEY questionnaire_responses_user (app_user_id),
    KEY questionnaire_responses_questionnaire (questionnaire_id),
    KEY questionnaire_responses_app (app_id),
    CONSTRAINT questionnaire_responses_questionnaire_fk FOREIGN KEY (questionnaire_id) REFERENCES questionnaires (id),
    CONSTRAINT questionnaire_responses_user_fk FOREIGN KEY (app_user_id) REFERENCES app_users (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_nopad_bin;
