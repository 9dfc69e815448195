-- What a token's claims say is found in the rows of the user and of the family (accounts §2.7): the addresses that identities have
-- verified, and whether any token of a family was revoked alone. An index finds the attachments of an app that wait for an event.
-- compatible-since: 25

ALTER TABLE users
    -- The verified addresses of its identities, a JSON array; NULL if there are none. Triggers on identities write it, so that
    -- what the release before links is there, too.
    ADD COLUMN verified_addresses MEDIUMTEXT COLLATE utf8mb4_nopad_bin NULL, ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    -- Whether revoked_access_tokens ever had a token of it. A trigger on that table writes it.
    ADD COLUMN has_revoked_tokens BOOLEAN NOT NULL DEFAULT FALSE, ALGORITHM = INSTANT, LOCK = NONE;

-- Whoever changes what an identity vouches for holds the locks of its users, so nothing is read here that changes meanwhile.
CREATE TRIGGER identities_addresses_insert AFTER INSERT ON identities FOR EACH ROW
BEGIN
    IF NEW.email_verified AND NEW.email IS NOT NULL THEN
        UPDATE users u
        SET u.verified_addresses = (SELECT JSON_ARRAYAGG(i.email) FROM identities i
                                    WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
        WHERE u.id = NEW.user_id;
    END IF;
END;

CREATE TRIGGER identities_addresses_update AFTER UPDATE ON identities FOR EACH ROW
BEGIN
    IF NOT (NEW.user_id = OLD.user_id AND NEW.email_verified = OLD.email_verified AND NEW.email <=> OLD.email) THEN
        UPDATE users u
        SET u.verified_addresses = (SELECT JSON_ARRAYAGG(i.email) FROM identities i
                                    WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
        WHERE u.id IN (OLD.user_id, NEW.user_id);
    END IF;
END;

CREATE TRIGGER identities_addresses_delete AFTER DELETE ON identities FOR EACH ROW
BEGIN
    IF OLD.email_verified AND OLD.email IS NOT NULL THEN
        UPDATE users u
        SET u.verified_addresses = (SELECT JSON_ARRAYAGG(i.email) FROM identities i
                                    WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
        WHERE u.id = OLD.user_id;
    END IF;
END;

CREATE TRIGGER revoked_access_tokens_mark AFTER INSERT ON revoked_access_tokens FOR EACH ROW
BEGIN
    -- A jti begins with the handle of its family.
    UPDATE refresh_families SET has_revoked_tokens = TRUE WHERE handle = LEFT(NEW.jti, 16) AND NOT has_revoked_tokens;
END;

UPDATE refresh_families f JOIN revoked_access_tokens r ON f.handle = LEFT(r.jti, 16)
SET f.has_revoked_tokens = TRUE
WHERE NOT f.has_revoked_tokens;

-- A thousand users at a time, so that nobody waits long for the lock of one. Under the locks nobody changes what is read then: a
-- statement reads what was there when it began, so the locks are those of the one before it. Where a trigger has written
-- addresses, they are right.
BEGIN NOT ATOMIC
    DECLARE done BIGINT UNSIGNED DEFAULT 0;
    DECLARE next BIGINT UNSIGNED;
    DECLARE locked INT UNSIGNED;
    REPEAT
        SELECT MAX(batch.id) INTO next
        FROM (SELECT u.id FROM users u WHERE u.id > done ORDER BY u.id LIMIT 1000) batch;
        START TRANSACTION;
        SELECT COUNT(*) INTO locked FROM users u WHERE u.id > done AND u.id <= next FOR UPDATE;
        UPDATE users u
        SET u.verified_addresses = (SELECT JSON_ARRAYAGG(i.email) FROM identities i
                                    WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL)
        WHERE u.id > done AND u.id <= next AND u.verified_addresses IS NULL
          AND EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL);
        COMMIT;
        SET done = next;
    UNTIL next IS NULL END REPEAT;
END;

ALTER TABLE event_attachments
    DROP KEY event_attachments_client_event,
    -- Under the same name, by which the release before asks for it.
    ADD KEY event_attachments_client_event (app_id, event_id, event_client_id), ALGORITHM = INPLACE, LOCK = NONE;
