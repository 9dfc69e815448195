-- Whether anything was merged into a record since a time, in one look-up (analytics §8.4).
-- compatible-since: 25

ALTER TABLE app_users
    DROP KEY app_users_merged_into,
    -- Under the same name, by which the release before asks for it.
    ADD KEY app_users_merged_into (merged_into, merged_at), ALGORITHM = INPLACE, LOCK = NONE;
