-- Further rows that belong to an account and are deleted with it.

CREATE TABLE swap_tickets (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    digest     BINARY(32) NOT NULL,
    user_id    BIGINT UNSIGNED NOT NULL,
    provider   VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    sub        VARCHAR(255) COLLATE utf8mb4_nopad_bin NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at DATETIME(3) NOT NULL,
    used_at    DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY swap_tickets_digest (digest),
    KEY swap_tickets_user (user_id),
    KEY swap_tickets_expires (expires_at),
    CONSTRAINT swap_tickets_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE web_sessions (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    digest       BINARY(32) NOT NULL,
    user_id      BIGINT UNSIGNED NOT NULL,
    created_at   DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    last_used_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at   DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY web_sessions_digest (digest),
    KEY web_sessions_user (user_id),
    KEY web_sessions_expires (expires_at),
    CONSTRAINT web_sessions_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE login_events (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id    BIGINT UNSIGNED NOT NULL,
    event      VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    provider   VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    ip         VARCHAR(45) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    user_agent VARCHAR(500) NULL,
    platform   VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    KEY login_events_user (user_id, id),
    KEY login_events_created (created_at),
    CONSTRAINT login_events_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
