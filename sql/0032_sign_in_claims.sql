-- Projects whose real user ids are those of the accounts, and the anonymous ids that devices report under (accounts Stage 5).
-- compatible-since: 25

ALTER TABLE projects
    -- Whether signing in claims (`project set --accounts`).
    ADD COLUMN accounts     BOOLEAN NOT NULL DEFAULT FALSE,
    -- Whether the purge of an account deletes its events; otherwise they become nobody's.
    ADD COLUMN purge_events BOOLEAN NOT NULL DEFAULT FALSE,
    ALGORITHM = INSTANT, LOCK = NONE;
ALTER TABLE projects
    ADD KEY projects_accounts (accounts), ALGORITHM = INPLACE, LOCK = NONE;

-- Two accounts that became one: the absorbed one's record, a real one, points at the survivor's, and stays as a pointer.
ALTER TABLE app_users DROP CONSTRAINT app_users_tombstone, ALGORITHM = INSTANT, LOCK = NONE;

-- What waits for compaction, apart from the pointers.
ALTER TABLE app_users ADD KEY app_users_merged_at (merged_at), ALGORITHM = INPLACE, LOCK = NONE;
-- What a purge finds of a user by name.
ALTER TABLE feedback
    ADD KEY feedback_frozen (project_id, frozen_user_id), ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE event_attachments
    ADD KEY event_attachments_frozen (project_id, frozen_user_id), ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE questionnaire_responses
    ADD KEY questionnaire_responses_frozen (project_id, frozen_user_id), ALGORITHM = INPLACE, LOCK = NONE;

-- At most 8 of each device, the newest ones.
CREATE TABLE device_anonymous_ids (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    device_id    BIGINT UNSIGNED NOT NULL,
    anonymous_id VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY device_anonymous_ids_device (device_id, anonymous_id),
    CONSTRAINT device_anonymous_ids_device_fk FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Purged accounts whose records wait to be erased, in the projects that took part then. A row is gone once nothing of the
-- account is left in the project.
CREATE TABLE record_erasures (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    project_id BINARY(16) NOT NULL,
    -- The account's id as projects name it.
    user_id    VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
