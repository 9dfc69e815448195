-- Who changed which identity, when and from where. Append-only: the only change of a row is the removal of its user.

CREATE TABLE audit_log (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    at         DATETIME(3) NOT NULL,
    user_id    BIGINT UNSIGNED NULL,
    actor      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    action     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    request_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ip         VARCHAR(45) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    details    JSON NULL,
    PRIMARY KEY (id),
    KEY audit_log_user (user_id, id),
    KEY audit_log_at (at),
    -- The foreign key's cascade does not fire the triggers below.
    CONSTRAINT audit_log_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_log: rows are never deleted';

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log FOR EACH ROW
BEGIN
    IF NEW.user_id IS NOT NULL
        OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.action <> OLD.action
        OR NOT NEW.request_id <=> OLD.request_id OR NOT NEW.ip <=> OLD.ip OR NOT NEW.details <=> OLD.details
    THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_log: rows never change';
    END IF;
END;
