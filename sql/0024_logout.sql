-- Signing out: what sign-ins in a browser belong to, where people go afterwards, and who is told.
-- compatible-since: 19

ALTER TABLE web_sessions
    -- What the sids of applications are made from. A sign-in of the same person in the browser keeps it.
    -- NULL: the session began under the release before, and its sign-ins have no sid.
    ADD COLUMN handle BINARY(16) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE web_sessions
    ADD KEY web_sessions_handle (handle),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE authorization_codes
    -- The web session's that it was issued in; NULL: it was not issued in one.
    ADD COLUMN session_handle BINARY(16) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE authorization_codes
    ADD KEY authorization_codes_session (session_handle),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE refresh_families
    -- Of the id_tokens: the name of the web session at this application. It outlives the session.
    ADD COLUMN sid BINARY(16) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE applications
    -- NULL: none.
    ADD COLUMN post_logout_redirect_uris JSON NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

-- Logout tokens that applications are to get. A token itself is made for each attempt; a row is gone once it was taken, or
-- when the last attempt has failed.
CREATE TABLE logout_tokens (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    application_id  BIGINT UNSIGNED NOT NULL,
    -- The grant's, which may be gone by then.
    sub             VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- NULL: every session of the sub ended.
    sid             BINARY(16) NULL,
    attempts        INT UNSIGNED NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NOT NULL,
    -- Of the dispatcher that sends it now; the lease ends at next_attempt_at.
    lease           BINARY(16) NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    KEY logout_tokens_due (next_attempt_at),
    -- Finds the due tokens of one application without reading those of others.
    KEY logout_tokens_application_due (application_id, next_attempt_at),
    -- Tells whether one of them has failed.
    KEY logout_tokens_application_attempts (application_id, attempts),
    CONSTRAINT logout_tokens_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
