-- Tokens with which the user of one account lets another account absorb it.
-- compatible-since: 19

CREATE TABLE merge_tokens (
    id              BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    digest          BINARY(32) NOT NULL,
    -- Who is absorbed by whoever presents it.
    user_id         BIGINT UNSIGNED NOT NULL,
    -- Of the idempotency_key that returns the token again; NULL: none was sent.
    key_digest      BINARY(32) NULL,
    -- The token, encrypted. Row identity: `merge_token`, a line feed and the digest.
    sealed_token    VARBINARY(255) NULL,
    -- When the copy is erased; NULL as soon as it is.
    copy_expires_at DATETIME(3) NULL,
    created_at      DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at      DATETIME(3) NOT NULL,
    used_at         DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY merge_tokens_digest (digest),
    KEY merge_tokens_user (user_id, key_digest),
    KEY merge_tokens_expires (expires_at),
    KEY merge_tokens_copy_expires (copy_expires_at),
    CONSTRAINT merge_tokens_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Which event told a relying party of a merge.
CREATE TABLE identity_link_events (
    identity_link_id BIGINT UNSIGNED NOT NULL,
    application_id   BIGINT UNSIGNED NOT NULL,
    event_id         VARCHAR(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    PRIMARY KEY (identity_link_id, application_id),
    KEY identity_link_events_application (application_id),
    CONSTRAINT identity_link_events_link_fk
        FOREIGN KEY (identity_link_id) REFERENCES identity_links (id) ON DELETE CASCADE,
    CONSTRAINT identity_link_events_application_fk
        FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Room for the longest address in the key of a merge that an operator makes by e-mail.
ALTER TABLE identity_links
    MODIFY COLUMN idempotency_key VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
    ALGORITHM = INSTANT, LOCK = NONE;
