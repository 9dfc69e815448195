-- The tables as they would be if all claims were carried through. app_user_id and user_id are those of the record that
-- a row counts for. For a frozen row, user_id is its anonymous id. Rows of event tables before their horizon are
-- missing.

CREATE SQL SECURITY INVOKER VIEW events_resolved AS
SELECT t.id, t.app_id, t.client_event_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.api_key_id, t.level, t.source_module,
       t.message, t.screen_name, t.custom_attributes, t.environment, t.os_version, t.app_version, t.sdk_name,
       t.sdk_version, t.device_model, t.build_number, t.locale, t.preferred_language, t.country_code, t.is_dev,
       t.timestamp, t.received_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM events t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into
WHERE t.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events');

CREATE SQL SECURITY INVOKER VIEW metric_events_resolved AS
SELECT t.id, t.app_id, t.client_event_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.api_key_id, t.metric_slug, t.phase,
       t.tracking_id, t.duration_ms, t.error, t.attributes, t.environment, t.os_version, t.app_version, t.sdk_name,
       t.sdk_version, t.device_model, t.build_number, t.country_code, t.is_dev, t.timestamp, t.received_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM metric_events t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into
WHERE t.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'metric_events');

CREATE SQL SECURITY INVOKER VIEW funnel_events_resolved AS
SELECT t.id, t.app_id, t.client_event_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.api_key_id, t.step_name, t.message,
       t.screen_name, t.custom_attributes, t.environment, t.os_version, t.app_version, t.sdk_name, t.sdk_version,
       t.device_model, t.build_number, t.country_code, t.is_dev, t.timestamp, t.received_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM funnel_events t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into
WHERE t.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'funnel_events');

CREATE SQL SECURITY INVOKER VIEW issue_occurrences_resolved AS
SELECT t.id, t.issue_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.event_id, t.app_version, t.environment, t.country_code,
       t.timestamp, t.created_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM issue_occurrences t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW feedback_resolved AS
SELECT t.id, t.app_id, t.project_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.frozen_user_id, t.message, t.submitter_name,
       t.submitter_email, t.status, t.is_dev, t.environment, t.os_version, t.app_version, t.sdk_name,
       t.sdk_version, t.device_model, t.country_code, t.created_at, t.updated_at, t.deleted_at,
       COALESCE(t.frozen_user_id, o.user_id, u.user_id) AS user_id
FROM feedback t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW event_attachments_resolved AS
SELECT t.id, t.project_id, t.app_id, t.event_client_id, t.event_id, t.issue_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.frozen_user_id,
       t.original_filename, t.content_type, t.size_bytes, t.sha256, t.is_dev, t.uploaded_at, t.created_at,
       t.deleted_at,
       COALESCE(t.frozen_user_id, o.user_id, u.user_id) AS user_id
FROM event_attachments t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW questionnaire_responses_resolved AS
SELECT t.id, t.questionnaire_id, t.slug, t.app_id, t.project_id, t.session_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.frozen_user_id,
       t.answers, t.schema_snapshot, t.submitted_at, t.status, t.is_dev, t.environment, t.os_version,
       t.app_version, t.sdk_name, t.sdk_version, t.device_model, t.country_code, t.created_at, t.updated_at,
       t.deleted_at,
       COALESCE(t.frozen_user_id, o.user_id, u.user_id) AS user_id
FROM questionnaire_responses t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW identity_claims_resolved AS
SELECT t.id, t.project_id, t.anonymous_id, COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.claimed_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM identity_claims t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW app_user_apps_resolved AS
SELECT COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.app_id, t.first_seen_at, t.last_seen_at,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM app_user_apps t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW app_user_event_counts_resolved AS
SELECT COALESCE(u.merged_into, t.app_user_id) AS app_user_id, t.month, t.n,
       COALESCE(o.user_id, u.user_id) AS user_id
FROM app_user_event_counts t
LEFT JOIN app_users u ON u.id = t.app_user_id
LEFT JOIN app_users o ON o.id = u.merged_into;

CREATE SQL SECURITY INVOKER VIEW app_users_resolved AS
SELECT u.id, u.public_id, u.project_id, u.user_id, u.is_anonymous, u.properties, u.first_seen_at, u.last_seen_at,
       u.last_country_code, u.last_app_version, u.last_sdk_name, u.last_sdk_version, u.last_locale,
       u.last_preferred_language, u.total_revenue_usd_cents, u.revenue_synced_at, u.is_dev,
       (SELECT JSON_ARRAYAGG(c.anonymous_id ORDER BY c.claimed_at)
        FROM identity_claims c WHERE c.app_user_id = u.id) AS claimed_from
FROM app_users u
WHERE u.merged_into IS NULL;
