-- Answers to refreshes that are repeated for a day to whoever has the key of the request.

ALTER TABLE refresh_families
    -- SHA-256 over the retired token and the key that came with its rotation, each by its own digest; NULL: no key came.
    ADD COLUMN answer_key_digest     BINARY(32) NULL,
    -- Until when sealed_answer is repeated to who has both. answer_expires_at is for who has the token alone.
    ADD COLUMN answer_key_expires_at DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    ADD UNIQUE KEY refresh_families_answer_key (answer_key_digest),
    ADD KEY refresh_families_answer_key_expires (answer_key_expires_at),
    ALGORITHM = NOCOPY, LOCK = NONE;
