-- One-time passwords by mail, with which a user absorbs another account.
-- compatible-since: 19

CREATE TABLE merge_otps (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    requester_id BIGINT UNSIGNED NOT NULL,
    -- SHA-256 over the target's id or, if nobody gets the code, over how the request named it: such a code is stored and
    -- tried like any other. No foreign key, which would lock the target's row, and only if there is one.
    target_key   BINARY(32) NOT NULL,
    -- HMAC-SHA256 under the server key over requester, target and code.
    code_mac     BINARY(32) NOT NULL,
    -- How many wrong codes were compared with it.
    tries        TINYINT UNSIGNED NOT NULL DEFAULT 0,
    -- Counts what was refused without a comparison, so that it costs the same as a comparison.
    refusals     INT UNSIGNED NOT NULL DEFAULT 0,
    created_at   DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    expires_at   DATETIME(3) NOT NULL,
    used_at      DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY merge_otps_pair (requester_id, target_key, id),
    KEY merge_otps_expires (expires_at),
    CONSTRAINT merge_otps_requester_fk FOREIGN KEY (requester_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
