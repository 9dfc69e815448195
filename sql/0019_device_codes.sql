-- The device flow (RFC 8628): a device asks, and a person decides on another device.

CREATE TABLE device_codes (
    id               BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    digest           BINARY(32) NOT NULL,
    -- Eight upper-case characters, without the dash.
    user_code        CHAR(8) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    application_id   BIGINT UNSIGNED NOT NULL,
    scopes           TEXT CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    status           ENUM ('pending', 'approved', 'denied', 'used') NOT NULL DEFAULT 'pending',
    -- The grant of the person who approved.
    grant_id         BIGINT UNSIGNED NULL,
    authenticated_at DATETIME(3) NULL,
    interval_seconds INT UNSIGNED NOT NULL,
    last_polled_at   DATETIME(3) NULL,
    created_at       DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at       DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY device_codes_digest (digest),
    UNIQUE KEY device_codes_user_code (user_code),
    KEY device_codes_grant (grant_id),
    KEY device_codes_application (application_id),
    KEY device_codes_expires (expires_at),
    CONSTRAINT device_codes_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE,
    CONSTRAINT device_codes_grant_fk FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
