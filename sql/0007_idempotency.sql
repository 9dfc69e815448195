-- Answers kept for ten minutes, so that a request whose answer was lost can be repeated.

CREATE TABLE idempotency_records (
    caller_digest   BINARY(32) NOT NULL,
    -- A bootstrap's key protects its answer, so no key is stored as it is.
    key_digest      BINARY(32) NOT NULL,
    fingerprint     BINARY(32) NOT NULL,
    -- Status, header fields and body, encrypted. NULL only inside the transaction that makes the effect.
    answer          MEDIUMBLOB NULL,
    expires_at      DATETIME(3) NOT NULL,
    PRIMARY KEY (caller_digest, key_digest),
    KEY idempotency_records_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
