-- Events for relying parties, which poll them or receive them from the dispatcher. The payload's bytes are written
-- once.

CREATE TABLE webhook_outbox (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id  BIGINT UNSIGNED NOT NULL,
    event_id        VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    event_type      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    raw_payload     MEDIUMBLOB NOT NULL,
    attempts        INT UNSIGNED NOT NULL DEFAULT 0,
    -- NULL: the event can only be polled.
    next_attempt_at DATETIME(3) NULL,
    delivered_at    DATETIME(3) NULL,
    dlq_at          DATETIME(3) NULL,
    failure_reason  VARCHAR(255) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY webhook_outbox_event (application_id, event_id),
    KEY webhook_outbox_due (next_attempt_at),
    CONSTRAINT webhook_outbox_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
