-- Consents, the credentials issued under them, and the subs that ended with a swap or a merge.

CREATE TABLE grants (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id        BIGINT UNSIGNED NOT NULL,
    application_id BIGINT UNSIGNED NOT NULL,
    -- Never changes, even if the grant moves to another user.
    sub            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    scopes         TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
    created_at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    last_used_at   DATETIME(3) NULL,
    revoked_at     DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY grants_application_sub (application_id, sub),
    KEY grants_user (user_id, application_id),
    CONSTRAINT grants_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT grants_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Codes and refresh families name only their grant. If it moves to another user, they follow without a write.
CREATE TABLE authorization_codes (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    grant_id   BIGINT UNSIGNED NOT NULL,
    digest     BINARY(32) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at DATETIME(3) NOT NULL,
    used_at    DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY authorization_codes_digest (digest),
    KEY authorization_codes_grant (grant_id),
    KEY authorization_codes_expires (expires_at),
    CONSTRAINT authorization_codes_grant_fk FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE refresh_families (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    grant_id   BIGINT UNSIGNED NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    revoked_at DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY refresh_families_grant (grant_id),
    CONSTRAINT refresh_families_grant_fk FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE absorbed_subs (
    application_id    BIGINT UNSIGNED NOT NULL,
    sub               VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    canonical_user_id BIGINT UNSIGNED NOT NULL,
    via               VARCHAR(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    was_anonymous     BOOLEAN NOT NULL,
    occurred_at       DATETIME(3) NOT NULL,
    PRIMARY KEY (application_id, sub),
    KEY absorbed_subs_canonical (canonical_user_id, application_id),
    CONSTRAINT absorbed_subs_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE,
    CONSTRAINT absorbed_subs_canonical_fk FOREIGN KEY (canonical_user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
