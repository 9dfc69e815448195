-- Deleted accounts: who was told of the deletion, and what the purge may clear.
-- compatible-since: 25

ALTER TABLE users
    -- Finds those whose grace is over, also imported ones that have no purge_at.
    ADD KEY users_deletion (purge_at, deleted_at),
    DROP KEY users_purge_at,
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Which relying parties were told that an account was deleted: they are told when it is restored or purged, too, in the same
-- words. The rows are gone with either.
CREATE TABLE deletion_notices (
    user_id        BIGINT UNSIGNED NOT NULL,
    application_id BIGINT UNSIGNED NOT NULL,
    sub            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- An array of strings.
    linked_subs    JSON NOT NULL,
    PRIMARY KEY (user_id, application_id),
    KEY deletion_notices_application (application_id),
    CONSTRAINT deletion_notices_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT deletion_notices_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- A purge finds the tickets of others that name an identity …
ALTER TABLE swap_tickets
    ADD KEY swap_tickets_identity (provider, sub),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- … and what an account did to others, or before it was swapped into another one.
ALTER TABLE audit_log
    ADD KEY audit_log_actor (actor),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- A purge removes a row's user, address, and what names a person or a device in its details. If the row is about somebody
-- else, that stays, but only an account that is gone loses what it left there.
CREATE OR REPLACE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log FOR EACH ROW
BEGIN
    IF NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.action <> OLD.action
        OR NOT NEW.request_id <=> OLD.request_id
        OR NOT (NEW.ip <=> OLD.ip OR NEW.ip IS NULL)
        OR NOT (NEW.details <=> OLD.details
                OR NEW.details <=> JSON_REPLACE(OLD.details, '$.device_uuid', NULL, '$.claimed_device_uuid', NULL,
                                                '$.email', NULL, '$.address', NULL, '$.name', NULL))
        OR NEW.user_id IS NOT NULL
            AND (NOT NEW.user_id <=> OLD.user_id OR OLD.actor NOT LIKE 'user:%'
                 OR EXISTS (SELECT 1 FROM users u WHERE u.id = CAST(SUBSTRING(OLD.actor, 6) AS UNSIGNED)))
    THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_log: rows never change';
    END IF;
END;
