-- Filters of lists that were checked row by row get an index (analytics §11.3 and §13.3). Each sign-in writes one index less:
-- login_events_day begins with its column.
-- compatible-since: 25

ALTER TABLE feedback ADD KEY feedback_status (app_id, deleted_at, is_dev, status, created_at), ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE event_attachments
    ADD KEY event_attachments_issue (app_id, issue_id, deleted_at, created_at), ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE login_events DROP KEY login_events_created, ALGORITHM = INPLACE, LOCK = NONE;
