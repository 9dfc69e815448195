-- What administration looks up: people by their addresses, events by state, the audit log by action; and counts of days.
-- compatible-since: 25

ALTER TABLE users
    ADD KEY users_login_email (login_email),
    ADD KEY users_contact_email (contact_email),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE identities
    ADD KEY identities_email (email, user_id),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE webhook_outbox
    ADD KEY webhook_outbox_dead (dlq_at),
    ADD KEY webhook_outbox_delivered (delivered_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE audit_log
    ADD KEY audit_log_action (action),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE login_events
    -- A day's events are counted without their rows.
    ADD KEY login_events_day (created_at, event),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- What happened on a day, counted once when the day was over. A row names nobody, so a purge leaves it.
CREATE TABLE daily_counts (
    -- When the day began, in UTC.
    day   DATETIME(3) NOT NULL,
    -- What was counted.
    name  VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    value BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (day, name)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
