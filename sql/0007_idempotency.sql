-- Answers kept for ten minutes, so that a request whose answer was lost can be repeated.

CREATE TABLE idempotency_records (
    caller_digest   BINARY(32) NOT NULL,
    idempotency_key VARCHAR(255) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    fingerprint     BINARY(32) NOT NULL,
    -- Status, header fields and body, encrypted. NULL only inside the transaction that makes the effect.
    answer          MEDIUMBLOB NULL,
    expires_at      DATETIME(3) NOT NULL,
    PRIMARY KEY (caller_digest, idempotency_key),
    KEY idempotency_records_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
