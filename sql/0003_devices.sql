-- Devices and the server's own bearer keys.

CREATE TABLE devices (
    id                   BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id              BIGINT UNSIGNED NOT NULL,
    -- As it was first registered; compared without regard to case.
    device_uuid          VARCHAR(36) CHARACTER SET ascii COLLATE ascii_general_nopad_ci NOT NULL,
    platform             VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- NULL: no secret opens the device until a sign-in issues a new one.
    secret_digest        BINARY(32) NULL,
    attestation_verified BOOLEAN NOT NULL DEFAULT FALSE,
    application_id       BIGINT UNSIGNED NULL,
    first_seen_at        DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    last_seen_at         DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY devices_device_uuid (device_uuid),
    UNIQUE KEY devices_secret_digest (secret_digest),
    KEY devices_user (user_id),
    KEY devices_application (application_id),
    CONSTRAINT devices_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT devices_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE paks (
    id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id        BIGINT UNSIGNED NOT NULL,
    device_id      BIGINT UNSIGNED NULL,
    application_id BIGINT UNSIGNED NULL,
    digest         BINARY(32) NOT NULL,
    -- Separated by spaces.
    scopes         VARCHAR(500) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    label          VARCHAR(255) NULL,
    created_at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    revoked_at     DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY paks_digest (digest),
    KEY paks_user (user_id),
    KEY paks_device (device_id, revoked_at),
    KEY paks_application (application_id),
    KEY paks_revoked (revoked_at),
    CONSTRAINT paks_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT paks_device_fk FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE SET NULL,
    CONSTRAINT paks_application_fk FOREIGN KEY (application_id) REFERENCES applications (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
