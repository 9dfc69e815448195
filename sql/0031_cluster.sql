-- On a cluster, transactions on two nodes meet only in rows that both have written. Whoever locks one of these rows there also
-- counts up its version; on a single server nobody does.
-- compatible-since: 25

ALTER TABLE app_users
    ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT, LOCK = NONE;
ALTER TABLE applications
    ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT, LOCK = NONE;
ALTER TABLE web_sessions
    ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT, LOCK = NONE;
