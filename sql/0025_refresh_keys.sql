-- Answers to refreshes that are repeated for a day to whoever has the key of the request.
-- compatible-since: 19

ALTER TABLE refresh_families
    -- SHA-256 over the retired token and the key that came with its rotation, each by its own digest; NULL: no key came.
    ADD COLUMN answer_key_digest     BINARY(32) NULL,
    -- When sealed_answer may no longer be repeated for both together. For the token alone it is answer_expires_at.
    ADD COLUMN answer_key_expires_at DATETIME(3) NULL,
    ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    ADD UNIQUE KEY refresh_families_answer_key (answer_key_digest),
    ADD KEY refresh_families_answer_key_expires (answer_key_expires_at),
    ALGORITHM = NOCOPY, LOCK = NONE;
