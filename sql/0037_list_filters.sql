-- Filters of lists that were checked row by row get an index (analytics §11.3 and §13.3), or are checked in one: a user's events
-- by level or environment (analytics §13.1). Each sign-in writes one index less: login_events_day begins with its column.
-- compatible-since: 25

ALTER TABLE feedback ADD KEY feedback_status (app_id, deleted_at, is_dev, status, created_at), ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE event_attachments
    ADD KEY event_attachments_issue (app_id, issue_id, deleted_at, created_at), ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE login_events DROP KEY login_events_created, ALGORITHM = INPLACE, LOCK = NONE;

-- app_id, because a key may not see all apps of a user.
ALTER TABLE events
    DROP KEY events_user,
    -- Under the same name, by which the release before asks for it.
    ADD KEY events_user (app_user_id, is_dev, timestamp, id, app_id, level, environment), ALGORITHM = INPLACE, LOCK = NONE;
