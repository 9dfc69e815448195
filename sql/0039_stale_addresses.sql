-- An identity that changed while migration 0038 had made its first triggers, but not yet the one for this change, has left its
-- user with the addresses that were right before.
-- compatible-since: 25

-- As 0038 does: a thousand users at a time, read under their locks.
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
        WHERE u.id > done AND u.id <= next AND u.verified_addresses IS NOT NULL
          AND NOT u.verified_addresses <=> (SELECT JSON_ARRAYAGG(i.email) FROM identities i
                                            WHERE i.user_id = u.id AND i.email_verified AND i.email IS NOT NULL);
        COMMIT;
        SET done = next;
    UNTIL next IS NULL END REPEAT;
END;
