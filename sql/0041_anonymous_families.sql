-- Whoever had a copy of an anonymous account's credentials and got tokens with it keeps them when the account is promoted or
-- swapped. An authorization remembers that it began so, and is not exchanged for a full PAK then (accounts §1.4).
-- compatible-since: 25

ALTER TABLE authorization_codes
    -- Whether the account was anonymous when the code was issued; NULL: the release before issued it.
    ADD COLUMN from_anonymous BOOLEAN NULL, ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE device_codes
    -- Whether the account was anonymous when it approved; NULL: it has not, or the release before approved.
    ADD COLUMN from_anonymous BOOLEAN NULL, ALGORITHM = INSTANT, LOCK = NONE;

ALTER TABLE refresh_families
    -- What its code says. Never changes. NULL counts as TRUE if the account behind the grant's sub was ever anonymous.
    ADD COLUMN from_anonymous BOOLEAN NULL, ALGORITHM = INSTANT, LOCK = NONE;
