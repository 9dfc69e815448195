-- Delivery of events by webhooks: leases, applications whose receivers fail, and a log of attempts.

ALTER TABLE applications
    -- A JSON array of the event types that are pushed; NULL: all.
    ADD COLUMN webhook_events      JSON NULL,
    -- Nothing is pushed since then, until the developer or the operator enables it again.
    ADD COLUMN webhook_disabled_at DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE webhook_outbox
    -- Of the dispatcher that sends the event now; the lease ends at next_attempt_at.
    ADD COLUMN lease BINARY(16) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE webhook_outbox
    -- The due events of each application, without a look at those of others.
    ADD KEY webhook_outbox_application_due (application_id, next_attempt_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Applications whose receiver has not taken an event since one failed. Success deletes the row.
CREATE TABLE webhook_failures (
    application_id BIGINT UNSIGNED NOT NULL,
    -- In a row.
    failures       INT UNSIGNED NOT NULL,
    failing_since  DATETIME(3) NOT NULL,
    -- The breaker is open, and its next probe is due then; NULL: it is closed.
    probe_at       DATETIME(3) NULL,
    PRIMARY KEY (application_id),
    CONSTRAINT webhook_failures_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- What developers see of the attempts of the last seven days. Without a foreign key, which would lock the application.
CREATE TABLE webhook_attempts (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id BIGINT UNSIGNED NOT NULL,
    event_id       VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    event_type     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    attempt        INT UNSIGNED NOT NULL,
    at             DATETIME(3) NOT NULL,
    -- Of the answer; NULL: there was none.
    status         SMALLINT UNSIGNED NULL,
    duration_ms    INT UNSIGNED NOT NULL,
    -- NULL: delivered.
    failure_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    PRIMARY KEY (id),
    KEY webhook_attempts_application (application_id, id),
    KEY webhook_attempts_at (at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
