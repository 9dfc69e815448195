-- Every event has a number in its application: 1, 2, 3 … in commit order, without gaps.

ALTER TABLE webhook_outbox
    -- 0: not numbered yet, which only this migration sees.
    ADD COLUMN seq BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE application_event_counters
    -- The newest event's; 0 before the first.
    ADD COLUMN last_seq BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ALGORITHM = INSTANT, LOCK = NONE;

-- Numbers what the release before inserts. It holds the counter's row lock, so that the count is exact. Creating the
-- trigger waits for whoever writes events without it: from here on only rows that are there already have no number.
CREATE TRIGGER webhook_outbox_seq BEFORE INSERT ON webhook_outbox FOR EACH ROW
BEGIN
    IF NEW.seq = 0 THEN
        UPDATE application_event_counters
        SET last_seq = 1 + IF(last_seq > 0, last_seq,
                              (SELECT COUNT(*) FROM webhook_outbox o WHERE o.application_id = NEW.application_id))
        WHERE application_id = NEW.application_id;
        SET NEW.seq = (SELECT last_seq FROM application_event_counters WHERE application_id = NEW.application_id);
    END IF;
END;

-- In an application rows were inserted in the order of their ids. Those that the trigger numbered follow the others.
UPDATE webhook_outbox o
JOIN (SELECT id, ROW_NUMBER() OVER (PARTITION BY application_id ORDER BY id) AS seq FROM webhook_outbox) numbered
    ON numbered.id = o.id
SET o.seq = numbered.seq
WHERE o.seq = 0;

ALTER TABLE webhook_outbox
    ADD UNIQUE KEY webhook_outbox_seq (application_id, seq),
    -- For polling some types only.
    ADD KEY webhook_outbox_type (application_id, event_type, seq),
    -- An id begins with its time, so that this is the order of age.
    ADD KEY webhook_outbox_age (event_id),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Of applications that had no event since the trigger exists: the trigger does the same for the others. It locks every
-- counter, so it comes when there is an index that it reads one row of for each.
UPDATE application_event_counters c
SET c.last_seq = COALESCE((SELECT MAX(o.seq) FROM webhook_outbox o WHERE o.application_id = c.application_id), 0)
WHERE c.last_seq = 0;
