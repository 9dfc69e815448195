-- Requests that people approve on their phones: actions of agents, and sign-ins elsewhere.

CREATE TABLE agents (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id    BIGINT UNSIGNED NOT NULL,
    public_id  VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    name       VARCHAR(200) NOT NULL DEFAULT '',
    created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    revoked_at DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY agents_public_id (public_id),
    KEY agents_user (user_id),
    CONSTRAINT agents_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE agent_approvals (
    id                   BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id              BIGINT UNSIGNED NOT NULL,
    agent_id             BIGINT UNSIGNED NOT NULL,
    public_id            VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    status               ENUM ('pending', 'approved', 'rejected', 'expired', 'cancelled') NOT NULL DEFAULT 'pending',
    -- SHA-256 in lower-case hexadecimal, which agents and phones compare.
    display_payload_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    created_at           DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY agent_approvals_public_id (public_id),
    KEY agent_approvals_user (user_id, status, display_payload_hash),
    KEY agent_approvals_agent (agent_id),
    CONSTRAINT agent_approvals_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT agent_approvals_agent_fk FOREIGN KEY (agent_id) REFERENCES agents (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TABLE push_approval_requests (
    id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    requested_user_id BIGINT UNSIGNED NULL,
    approved_user_id  BIGINT UNSIGNED NULL,
    status            ENUM ('pending', 'approved', 'denied', 'expired') NOT NULL DEFAULT 'pending',
    created_at        DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at        DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY push_approval_requests_requested (requested_user_id),
    KEY push_approval_requests_approved (approved_user_id),
    KEY push_approval_requests_expires (expires_at),
    CONSTRAINT push_approval_requests_requested_fk
        FOREIGN KEY (requested_user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT push_approval_requests_approved_fk
        FOREIGN KEY (approved_user_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
