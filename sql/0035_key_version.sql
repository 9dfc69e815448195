-- A number that changes whenever what API keys let in changes: a key, its app or its project. A server that remembers a key
-- reads this number, in the first statement of a request, instead of the key's rows (analytics §2.5). Triggers change it, so
-- that nobody can forget to.
-- compatible-since: 25

CREATE TABLE api_key_version (
    id TINYINT UNSIGNED NOT NULL,
    version BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id)
);

INSERT INTO api_key_version (id, version) VALUES (1, 1);

CREATE TRIGGER api_keys_changed AFTER UPDATE ON api_keys FOR EACH ROW
BEGIN
    IF NOT (NEW.deleted_at <=> OLD.deleted_at AND NEW.expires_at <=> OLD.expires_at AND NEW.permissions = OLD.permissions
            AND NEW.secret_sha256 = OLD.secret_sha256 AND NEW.key_type = OLD.key_type AND NEW.team_id = OLD.team_id
            AND NEW.app_id <=> OLD.app_id) THEN
        UPDATE api_key_version SET version = version + 1;
    END IF;
END;

CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys FOR EACH ROW
    UPDATE api_key_version SET version = version + 1;

CREATE TRIGGER apps_changed AFTER UPDATE ON apps FOR EACH ROW
BEGIN
    IF NOT (NEW.deleted_at <=> OLD.deleted_at AND BINARY NEW.bundle_id <=> BINARY OLD.bundle_id
            AND NEW.platform = OLD.platform AND NEW.project_id = OLD.project_id) THEN
        UPDATE api_key_version SET version = version + 1;
    END IF;
END;

CREATE TRIGGER projects_changed AFTER UPDATE ON projects FOR EACH ROW
BEGIN
    IF NOT (NEW.deleted_at <=> OLD.deleted_at AND NEW.claim_conflict = OLD.claim_conflict
            AND NEW.attachment_user_quota_bytes <=> OLD.attachment_user_quota_bytes
            AND NEW.attachment_project_quota_bytes <=> OLD.attachment_project_quota_bytes) THEN
        UPDATE api_key_version SET version = version + 1;
    END IF;
END;
