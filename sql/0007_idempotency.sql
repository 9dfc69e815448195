-- Answers are kept for ten minutes, so that a client can repeat a request whose answer was lost.

CREATE TABLE idempotency_records (
    caller_digest   BINARY(32) NOT NULL,
    -- The key of a bootstrap protects its answer, so keys are stored only as digests.
    key_digest      BINARY(32) NOT NULL,
    fingerprint     BINARY(32) NOT NULL,
    -- Status, header fields and body, encrypted. NULL only within the transaction that does the request's work.
    answer          MEDIUMBLOB NULL,
    expires_at      DATETIME(3) NOT NULL,
    PRIMARY KEY (caller_digest, key_digest),
    KEY idempotency_records_expires (expires_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
