-- Delivery of events by webhooks: leases, applications whose receivers fail, and a log of attempts.
-- compatible-since: 19

ALTER TABLE applications
    -- A JSON array of the event types that are pushed; NULL: all.
    ADD COLUMN webhook_events      JSON NULL,
    -- When sending was disabled, until the developer or the operator enables it again; NULL: it is enabled.
    ADD COLUMN webhook_disabled_at DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE webhook_outbox
    -- Names the dispatcher that is sending the event; NULL: none is. The lease ends at next_attempt_at.
    ADD COLUMN lease       BINARY(16) NULL,
    -- Replays are sent after all others.
    ADD COLUMN is_replayed BOOLEAN NOT NULL DEFAULT FALSE,
    -- When it was last replayed; each replay has a later time than the one before.
    ADD COLUMN replayed_at DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE webhook_outbox
    -- Finds the due events of one application without reading those of others.
    ADD KEY webhook_outbox_application_due (application_id, is_replayed, next_attempt_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Applications whose last attempts failed. A successful attempt deletes the row.
CREATE TABLE webhook_failures (
    application_id BIGINT UNSIGNED NOT NULL,
    -- Failed attempts since the last success.
    failures       INT UNSIGNED NOT NULL,
    -- Since then no attempt succeeded, and there was no long time without one.
    failing_since  DATETIME(3) NOT NULL,
    -- The last failure.
    failed_at      DATETIME(3) NOT NULL,
    -- When the next probe is due, if the breaker is open; NULL: it is closed.
    probe_at       DATETIME(3) NULL,
    PRIMARY KEY (application_id),
    CONSTRAINT webhook_failures_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- The attempts of the last seven days, for developers. There is no foreign key, because it would lock the application.
CREATE TABLE webhook_attempts (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id BIGINT UNSIGNED NOT NULL,
    event_id       VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    event_type     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    attempt        INT UNSIGNED NOT NULL,
    at             DATETIME(3) NOT NULL,
    -- The HTTP status; NULL if there was no answer.
    status         SMALLINT UNSIGNED NULL,
    duration_ms    INT UNSIGNED NOT NULL,
    -- NULL: delivered.
    failure_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    PRIMARY KEY (id),
    KEY webhook_attempts_application (application_id, id),
    KEY webhook_attempts_at (at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
