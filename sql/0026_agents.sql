-- Agents that ask their users to approve actions: their credentials, the requests, the nonces of signed calls, and a history
-- of each request that outlives it.
-- compatible-since: 25

ALTER TABLE agents
    ADD COLUMN agent_type           VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'custom',
    ADD COLUMN auth_mode            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'bearer_only',
    -- Ed25519, of an agent that signs.
    ADD COLUMN public_key           BINARY(32) NULL,
    -- SHA-256 of the bearer token. NULL: an agent that cannot call.
    ADD COLUMN token_digest         BINARY(32) NULL,
    -- Arrays of strings. NULL: any.
    ADD COLUMN allowed_action_types JSON NULL,
    ADD COLUMN allowed_ips          JSON NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE agents
    ADD UNIQUE KEY agents_token (token_digest),
    -- The user's list, newest first, past those that are revoked.
    ADD KEY agents_user_live (user_id, revoked_at, id),
    -- For clean-up.
    ADD KEY agents_revoked (revoked_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

ALTER TABLE agent_approvals
    ADD COLUMN action_type    VARCHAR(100) COLLATE utf8mb4_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN title          VARCHAR(200) COLLATE utf8mb4_nopad_bin NOT NULL DEFAULT '',
    ADD COLUMN body           TEXT COLLATE utf8mb4_nopad_bin NOT NULL DEFAULT '',
    -- The context and the number that the agent shows, sealed together. NULL: neither.
    ADD COLUMN sealed_request MEDIUMBLOB NULL,
    -- NULL: never.
    ADD COLUMN expires_at     DATETIME(3) NULL,
    ADD COLUMN decided_at     DATETIME(3) NULL,
    -- How many wrong numbers were typed.
    ADD COLUMN tries          TINYINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN last_polled_at DATETIME(3) NULL,
    -- How many rows the request has in agent_approval_history, and the last one's digest.
    ADD COLUMN history_length SMALLINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN history_digest BINARY(32) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE agent_approvals
    -- What an agent waits for, and what its user has rejected lately.
    ADD KEY agent_approvals_agent_status (agent_id, status, expires_at),
    -- The user's list, newest first, of one status …
    ADD KEY agent_approvals_user_status (user_id, status, id),
    -- … and of all.
    ADD KEY agent_approvals_user_newest (user_id, id),
    -- What waits for the user, the first to end first.
    ADD KEY agent_approvals_user_expires (user_id, status, expires_at),
    -- For clean-up, which marks what has expired, and deletes what ended long ago.
    ADD KEY agent_approvals_expires (status, expires_at),
    ALGORITHM = NOCOPY, LOCK = NONE;

-- The Idempotency-Keys of an agent's requests. They go with their request.
CREATE TABLE agent_approval_keys (
    agent_id    BIGINT UNSIGNED NOT NULL,
    -- SHA-256 of the key, and of the body that came with it.
    key_digest  BINARY(32) NOT NULL,
    body_digest BINARY(32) NOT NULL,
    approval_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (agent_id, key_digest),
    KEY agent_approval_keys_approval (approval_id),
    CONSTRAINT agent_approval_keys_agent_fk FOREIGN KEY (agent_id) REFERENCES agents (id) ON DELETE CASCADE,
    CONSTRAINT agent_approval_keys_approval_fk
        FOREIGN KEY (approval_id) REFERENCES agent_approvals (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Nonces of signed calls, for the ten minutes in which a call could be sent again, and one more. No foreign key: it would lock
-- the agent before its user, and clean-up erases the rows soon.
CREATE TABLE agent_nonces (
    agent_id   BIGINT UNSIGNED NOT NULL,
    -- SHA-256 of the nonce.
    digest     BINARY(32) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (agent_id, digest),
    KEY agent_nonces_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- What happened to each request, as a chain. Append-only for seven years: the only change of a row is that of its user, who
-- may be merged or deleted. It holds no more about people, so nothing else has to go with them.
CREATE TABLE agent_approval_history (
    id                   BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    -- The request's public id. No foreign key: the history stays when the request goes.
    approval             VARCHAR(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- 1, 2, 3, …
    sequence             SMALLINT UNSIGNED NOT NULL,
    user_id              BIGINT UNSIGNED NULL,
    event                VARCHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    at                   DATETIME(3) NOT NULL,
    display_payload_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- The digest of the row before; zeros in the first.
    previous_digest      BINARY(32) NOT NULL,
    digest               BINARY(32) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY agent_approval_history_approval (approval, sequence),
    KEY agent_approval_history_user (user_id),
    KEY agent_approval_history_at (at),
    -- The foreign key's cascade does not fire the triggers below.
    CONSTRAINT agent_approval_history_user_fk FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE SET NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

CREATE TRIGGER agent_approval_history_no_delete BEFORE DELETE ON agent_approval_history FOR EACH ROW
BEGIN
    IF OLD.at > UTC_TIMESTAMP(3) - INTERVAL 7 YEAR THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'agent_approval_history: rows are kept for seven years';
    END IF;
END;

CREATE TRIGGER agent_approval_history_no_update BEFORE UPDATE ON agent_approval_history FOR EACH ROW
BEGIN
    IF NEW.id <> OLD.id OR NEW.approval <> OLD.approval OR NEW.sequence <> OLD.sequence OR NEW.event <> OLD.event
        OR NEW.at <> OLD.at OR NEW.display_payload_hash <> OLD.display_payload_hash
        OR NEW.previous_digest <> OLD.previous_digest OR NEW.digest <> OLD.digest
    THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'agent_approval_history: rows never change';
    END IF;
END;
