-- The keys that sign tokens. Every row with a public part is published. Of the activated keys, the newest signs.

CREATE TABLE signing_keys (
    id                 BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    -- Never reused: the row stays after both parts of the key are removed.
    kid                CHAR(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
    -- A JWK (RFC 7517 §4) without private members.
    public_jwk         JSON NULL,
    -- PKCS #8, encrypted, bound to `signing_key:<kid>`.
    sealed_private_key VARBINARY(8192) NULL,
    published_at       DATETIME(3) NOT NULL,
    -- When the key began to sign; NULL for the next key.
    activated_at       DATETIME(3) NULL,
    -- When the next key began to sign.
    retired_at         DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY signing_keys_kid (kid),
    CONSTRAINT signing_keys_order CHECK (activated_at >= published_at AND retired_at >= activated_at),
    -- A key that can sign is published, and it stays published until it is retired.
    CONSTRAINT signing_keys_published CHECK (public_jwk IS NOT NULL
        OR sealed_private_key IS NULL AND activated_at IS NOT NULL AND retired_at IS NOT NULL)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;
