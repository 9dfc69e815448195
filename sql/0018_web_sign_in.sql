-- Sign-in in browsers: requests that wait for a person, and their trips to a provider.

ALTER TABLE web_sessions
    ADD COLUMN provider VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

-- Checked requests of relying parties, and visits to the device page, that wait for a person.
CREATE TABLE authorization_requests (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    -- The digest of the handle in links and forms.
    digest         BINARY(32) NOT NULL,
    -- The digest of the browser's cookie. No other browser can use the handle.
    browser_digest BINARY(32) NOT NULL,
    -- NULL: the visit is not a relying party's request.
    application_id BIGINT UNSIGNED NULL,
    -- The request's parameters after the check.
    parameters     JSON NOT NULL,
    created_at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at     DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY authorization_requests_digest (digest),
    KEY authorization_requests_expires (expires_at),
    CONSTRAINT authorization_requests_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- One trip to a provider and back. Found by `state` first. After the provider's answer, found by a handle of its own.
CREATE TABLE provider_sign_ins (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    provider       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    state_digest   BINARY(32) NOT NULL,
    -- The digest of the browser's cookie. The same browser must come back.
    browser_digest BINARY(32) NOT NULL,
    -- Encrypted: the raw nonce and the request's handle, later the claims of the identity token. Bound to
    -- `provider_sign_in:<id>`.
    sealed         BLOB NULL,
    -- NULL until the provider has answered.
    finish_digest  BINARY(32) NULL,
    expires_at     DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY provider_sign_ins_state (state_digest),
    UNIQUE KEY provider_sign_ins_finish (finish_digest),
    KEY provider_sign_ins_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
