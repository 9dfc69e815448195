-- Sign-ins that people approve on their phones, and where these are reached.
-- compatible-since: 25

ALTER TABLE push_approval_requests
    -- Of links, notifications and the API: base64url of 16 bytes. NULL: the row is older than these, and no request leads to it.
    ADD COLUMN public_id      VARCHAR(22) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    -- The digest of the browser's cookie. No other browser can be signed in.
    ADD COLUMN browser_digest BINARY(32) NULL,
    -- Encrypted: the number that browser and person compare. Bound to `push_approval:<public_id>`.
    ADD COLUMN sealed_number  BLOB NULL,
    -- Wrong numbers so far.
    ADD COLUMN tries          TINYINT UNSIGNED NOT NULL DEFAULT 0,
    -- Of the browser, as the person is shown them.
    ADD COLUMN ip             VARCHAR(45) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ADD COLUMN user_agent     VARCHAR(500) NULL,
    -- Where the sign-in leads; NULL: to no application. No foreign key: the row is gone after an hour.
    ADD COLUMN application_id BIGINT UNSIGNED NULL,
    -- Whether it is about whoever scans its code first. Otherwise it is about the person with an address, or nobody.
    ADD COLUMN by_code        BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN decided_at     DATETIME(3) NULL,
    -- When the browser was signed in.
    ADD COLUMN completed_at   DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE push_approval_requests
    ADD UNIQUE KEY push_approval_requests_public_id (public_id),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- Where devices take notifications. A row dies with its device, which dies with its user.
CREATE TABLE push_tokens (
    device_id   BIGINT UNSIGNED NOT NULL,
    -- Lower-case hexadecimal, as the app got it from Apple.
    token       VARCHAR(200) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    environment ENUM ('sandbox', 'production') NOT NULL,
    updated_at  DATETIME(3) NOT NULL,
    PRIMARY KEY (device_id),
    UNIQUE KEY push_tokens_token (token),
    CONSTRAINT push_tokens_device_fk FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Whoever owned the device before must not be asked on it.
CREATE TRIGGER push_tokens_end_with_owner AFTER UPDATE ON devices FOR EACH ROW
BEGIN
    IF NEW.user_id <> OLD.user_id THEN
        DELETE FROM push_tokens WHERE device_id = OLD.id;
    END IF;
END;
