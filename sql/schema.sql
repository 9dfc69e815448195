-- Made by `merganserctl migrate schema` from the migrations. Not to be edited, nor run by anybody but tests.

SET FOREIGN_KEY_CHECKS = 0;

CREATE TABLE `absorbed_subs` (
  `application_id` bigint(20) unsigned NOT NULL,
  `sub` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `canonical_user_id` bigint(20) unsigned NOT NULL,
  `via` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `was_anonymous` tinyint(1) NOT NULL,
  `occurred_at` datetime(3) NOT NULL,
  `source_event_id` varchar(30) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  PRIMARY KEY (`application_id`,`sub`),
  KEY `absorbed_subs_canonical` (`canonical_user_id`,`application_id`),
  CONSTRAINT `absorbed_subs_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE,
  CONSTRAINT `absorbed_subs_canonical_fk` FOREIGN KEY (`canonical_user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `agent_approvals` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `agent_id` bigint(20) unsigned NOT NULL,
  `public_id` varchar(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `status` enum('pending','approved','rejected','expired','cancelled') NOT NULL DEFAULT 'pending',
  `display_payload_hash` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `agent_approvals_public_id` (`public_id`),
  KEY `agent_approvals_user` (`user_id`,`status`,`display_payload_hash`),
  KEY `agent_approvals_agent` (`agent_id`),
  CONSTRAINT `agent_approvals_agent_fk` FOREIGN KEY (`agent_id`) REFERENCES `agents` (`id`) ON DELETE CASCADE,
  CONSTRAINT `agent_approvals_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `agents` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `public_id` varchar(20) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `name` varchar(200) NOT NULL DEFAULT '',
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `revoked_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `agents_public_id` (`public_id`),
  KEY `agents_user` (`user_id`),
  CONSTRAINT `agents_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `api_keys` (
  `id` binary(16) NOT NULL,
  `secret_sha256` binary(32) NOT NULL,
  `key_type` enum('client','import','agent') NOT NULL,
  `prefix` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `last4` varchar(4) NOT NULL,
  `app_id` binary(16) DEFAULT NULL,
  `team_id` binary(16) NOT NULL,
  `name` varchar(200) NOT NULL,
  `permissions` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL CHECK (json_valid(`permissions`)),
  `last_used_at` datetime(3) DEFAULT NULL,
  `expires_at` datetime(3) DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `api_keys_secret` (`secret_sha256`),
  KEY `api_keys_app` (`app_id`),
  KEY `api_keys_team` (`team_id`),
  CONSTRAINT `api_keys_app_fk` FOREIGN KEY (`app_id`) REFERENCES `apps` (`id`),
  CONSTRAINT `api_keys_team_fk` FOREIGN KEY (`team_id`) REFERENCES `teams` (`id`),
  CONSTRAINT `api_keys_scope` CHECK (`key_type` = 'agent' = (`app_id` is null))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `app_user_apps` (
  `app_user_id` bigint(20) unsigned NOT NULL,
  `app_id` binary(16) NOT NULL,
  `first_seen_at` datetime(3) NOT NULL,
  `last_seen_at` datetime(3) NOT NULL,
  PRIMARY KEY (`app_user_id`,`app_id`),
  KEY `app_user_apps_app` (`app_id`),
  CONSTRAINT `app_user_apps_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `app_user_event_counts` (
  `app_user_id` bigint(20) unsigned NOT NULL,
  `month` date NOT NULL,
  `n` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`app_user_id`,`month`),
  KEY `app_user_event_counts_month` (`month`),
  CONSTRAINT `app_user_event_counts_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `app_users` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `public_id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `user_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `is_anonymous` tinyint(1) NOT NULL,
  `merged_into` bigint(20) unsigned DEFAULT NULL,
  `merged_at` datetime(3) DEFAULT NULL,
  `properties` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`properties`)),
  `first_seen_at` datetime(3) NOT NULL,
  `last_seen_at` datetime(3) NOT NULL,
  `last_country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `last_app_version` varchar(50) DEFAULT NULL,
  `last_sdk_name` varchar(50) DEFAULT NULL,
  `last_sdk_version` varchar(50) DEFAULT NULL,
  `last_locale` varchar(20) DEFAULT NULL,
  `last_preferred_language` varchar(35) DEFAULT NULL,
  `total_revenue_usd_cents` bigint(20) DEFAULT NULL,
  `revenue_synced_at` datetime(3) DEFAULT NULL,
  `is_dev` tinyint(1) NOT NULL DEFAULT 0,
  `attachment_bytes` bigint(20) unsigned NOT NULL DEFAULT 0,
  `attachment_files` bigint(20) unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `app_users_project_user` (`project_id`,`user_id`),
  UNIQUE KEY `app_users_public_id` (`public_id`),
  KEY `app_users_merged_into` (`merged_into`),
  KEY `app_users_last_seen` (`project_id`,`merged_into`,`is_dev`,`last_seen_at`),
  KEY `app_users_first_seen` (`project_id`,`merged_into`,`is_dev`,`first_seen_at`),
  CONSTRAINT `app_users_merged_into_fk` FOREIGN KEY (`merged_into`) REFERENCES `app_users` (`id`),
  CONSTRAINT `app_users_tombstone` CHECK (`merged_into` is null or `is_anonymous` <> 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `application_event_counters` (
  `application_id` bigint(20) unsigned NOT NULL,
  `last_ulid` varchar(26) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  PRIMARY KEY (`application_id`),
  CONSTRAINT `application_event_counters_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `application_faults` (
  `application_id` bigint(20) unsigned NOT NULL,
  `fault` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `last_seen_at` datetime(3) NOT NULL,
  PRIMARY KEY (`application_id`,`fault`),
  CONSTRAINT `application_faults_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `applications` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `client_id` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `name` varchar(200) NOT NULL,
  `client_type` enum('public','confidential') NOT NULL,
  `secret_digest` binary(32) DEFAULT NULL,
  `redirect_uris` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '[]' CHECK (json_valid(`redirect_uris`)),
  `allowed_scopes` text CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `status` enum('pending','active','suspended') NOT NULL DEFAULT 'pending',
  `owner_user_id` bigint(20) unsigned DEFAULT NULL,
  `webhook_url` varchar(2000) DEFAULT NULL,
  `allow_anonymous_grants` tinyint(1) NOT NULL DEFAULT 0,
  `notify_anonymous_swap` tinyint(1) NOT NULL DEFAULT 0,
  `first_party` tinyint(1) NOT NULL DEFAULT 0,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `app_link_url` varchar(2000) DEFAULT NULL,
  `backchannel_logout_uri` varchar(2000) DEFAULT NULL,
  `scope_policy` enum('block','log_only','alert') NOT NULL DEFAULT 'block',
  `linked_sub_details` tinyint(1) NOT NULL DEFAULT 0,
  `previous_secret_digest` binary(32) DEFAULT NULL,
  `previous_secret_expires_at` datetime(3) DEFAULT NULL,
  `pending_changes` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`pending_changes`)),
  PRIMARY KEY (`id`),
  UNIQUE KEY `applications_client_id` (`client_id`),
  UNIQUE KEY `applications_secret_digest` (`secret_digest`),
  KEY `applications_owner` (`owner_user_id`),
  CONSTRAINT `applications_owner_fk` FOREIGN KEY (`owner_user_id`) REFERENCES `users` (`id`) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `apps` (
  `id` binary(16) NOT NULL,
  `team_id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `name` varchar(200) NOT NULL,
  `platform` enum('apple','android','web','backend') NOT NULL,
  `bundle_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  `supported_languages` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`supported_languages`)),
  `supported_languages_source` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `apps_project` (`project_id`),
  KEY `apps_team` (`team_id`),
  CONSTRAINT `apps_project_fk` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`),
  CONSTRAINT `apps_team_fk` FOREIGN KEY (`team_id`) REFERENCES `teams` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `attachment_locks` (
  `sha256` char(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  PRIMARY KEY (`sha256`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `audit_log` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `at` datetime(3) NOT NULL,
  `user_id` bigint(20) unsigned DEFAULT NULL,
  `actor` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `action` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `request_id` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `ip` varchar(45) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `details` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`details`)),
  PRIMARY KEY (`id`),
  KEY `audit_log_user` (`user_id`,`id`),
  KEY `audit_log_at` (`at`),
  CONSTRAINT `audit_log_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE SET NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_log: rows are never deleted';

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log FOR EACH ROW
BEGIN
    IF NEW.user_id IS NOT NULL
        OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.action <> OLD.action
        OR NOT NEW.request_id <=> OLD.request_id OR NOT NEW.ip <=> OLD.ip OR NOT NEW.details <=> OLD.details
    THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'audit_log: rows never change';
    END IF;
END;

CREATE TABLE `authorization_codes` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `grant_id` bigint(20) unsigned NOT NULL,
  `digest` binary(32) NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  `used_at` datetime(3) DEFAULT NULL,
  `redirect_uri` varchar(2000) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `code_challenge` char(43) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `nonce` text CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  `scopes` text CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `authenticated_at` datetime(3) DEFAULT NULL,
  `refresh_family_id` bigint(20) unsigned DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `authorization_codes_digest` (`digest`),
  KEY `authorization_codes_grant` (`grant_id`),
  KEY `authorization_codes_expires` (`expires_at`),
  CONSTRAINT `authorization_codes_grant_fk` FOREIGN KEY (`grant_id`) REFERENCES `grants` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `authorization_requests` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `digest` binary(32) NOT NULL,
  `browser_digest` binary(32) NOT NULL,
  `application_id` bigint(20) unsigned DEFAULT NULL,
  `parameters` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL CHECK (json_valid(`parameters`)),
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `authorization_requests_digest` (`digest`),
  KEY `authorization_requests_expires` (`expires_at`),
  KEY `authorization_requests_application_fk` (`application_id`),
  CONSTRAINT `authorization_requests_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `device_codes` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `digest` binary(32) NOT NULL,
  `user_code` char(8) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `application_id` bigint(20) unsigned NOT NULL,
  `scopes` text CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `status` enum('pending','approved','denied','used') NOT NULL DEFAULT 'pending',
  `grant_id` bigint(20) unsigned DEFAULT NULL,
  `authenticated_at` datetime(3) DEFAULT NULL,
  `interval_seconds` int(10) unsigned NOT NULL,
  `last_polled_at` datetime(3) DEFAULT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `device_codes_digest` (`digest`),
  UNIQUE KEY `device_codes_user_code` (`user_code`),
  KEY `device_codes_grant` (`grant_id`),
  KEY `device_codes_application` (`application_id`),
  KEY `device_codes_expires` (`expires_at`),
  CONSTRAINT `device_codes_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE,
  CONSTRAINT `device_codes_grant_fk` FOREIGN KEY (`grant_id`) REFERENCES `grants` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `devices` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `device_uuid` varchar(36) CHARACTER SET ascii COLLATE ascii_general_nopad_ci NOT NULL,
  `platform` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `secret_digest` binary(32) DEFAULT NULL,
  `attestation_verified` tinyint(1) NOT NULL DEFAULT 0,
  `application_id` bigint(20) unsigned DEFAULT NULL,
  `first_seen_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_seen_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `devices_device_uuid` (`device_uuid`),
  UNIQUE KEY `devices_secret_digest` (`secret_digest`),
  KEY `devices_user` (`user_id`),
  KEY `devices_application` (`application_id`),
  CONSTRAINT `devices_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE,
  CONSTRAINT `devices_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `event_attachments` (
  `id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `event_client_id` binary(16) NOT NULL,
  `event_id` binary(16) DEFAULT NULL,
  `issue_id` binary(16) DEFAULT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `frozen_user_id` varchar(255) DEFAULT NULL,
  `original_filename` varchar(255) NOT NULL,
  `content_type` varchar(128) NOT NULL,
  `size_bytes` bigint(20) unsigned NOT NULL,
  `sha256` char(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `uploaded_at` datetime(3) DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `event_attachments_client_event` (`app_id`,`event_client_id`,`event_id`),
  KEY `event_attachments_client_created` (`app_id`,`event_client_id`,`deleted_at`,`created_at`),
  KEY `event_attachments_project` (`project_id`,`created_at`),
  KEY `event_attachments_user` (`app_user_id`,`deleted_at`),
  KEY `event_attachments_sha256` (`sha256`),
  KEY `event_attachments_event` (`event_id`,`deleted_at`,`created_at`),
  KEY `event_attachments_app` (`app_id`,`deleted_at`,`created_at`),
  KEY `event_attachments_deleted` (`deleted_at`),
  KEY `event_attachments_pending` (`uploaded_at`,`created_at`),
  CONSTRAINT `event_attachments_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TRIGGER event_attachments_added AFTER INSERT ON event_attachments FOR EACH ROW
BEGIN
    UPDATE app_users
    SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
    WHERE id = NEW.app_user_id;
    UPDATE projects
    SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
    WHERE id = NEW.project_id;
END;

CREATE TRIGGER event_attachments_moved AFTER UPDATE ON event_attachments FOR EACH ROW
BEGIN
    IF NOT NEW.app_user_id <=> OLD.app_user_id THEN
        UPDATE app_users
        SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
            attachment_files = attachment_files - LEAST(attachment_files, 1)
        WHERE id = OLD.app_user_id;
        UPDATE app_users
        SET attachment_bytes = attachment_bytes + NEW.size_bytes, attachment_files = attachment_files + 1
        WHERE id = NEW.app_user_id;
    END IF;
END;

CREATE TRIGGER event_attachments_removed AFTER DELETE ON event_attachments FOR EACH ROW
BEGIN
    UPDATE app_users
    SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
        attachment_files = attachment_files - LEAST(attachment_files, 1)
    WHERE id = OLD.app_user_id;
    UPDATE projects
    SET attachment_bytes = attachment_bytes - LEAST(attachment_bytes, OLD.size_bytes),
        attachment_files = attachment_files - LEAST(attachment_files, 1)
    WHERE id = OLD.project_id;
END;

CREATE TABLE `events` (
  `id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `client_event_id` binary(16) DEFAULT NULL,
  `session_id` binary(16) NOT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `api_key_id` binary(16) DEFAULT NULL,
  `level` enum('info','debug','warn','error') NOT NULL,
  `source_module` mediumtext DEFAULT NULL,
  `message` mediumtext NOT NULL,
  `screen_name` varchar(255) DEFAULT NULL,
  `custom_attributes` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`custom_attributes`)),
  `environment` enum('ios','ipados','macos','watchos','android','web','backend') DEFAULT NULL,
  `os_version` varchar(50) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `sdk_name` varchar(50) DEFAULT NULL,
  `sdk_version` varchar(50) DEFAULT NULL,
  `device_model` varchar(100) DEFAULT NULL,
  `build_number` varchar(50) DEFAULT NULL,
  `locale` varchar(20) DEFAULT NULL,
  `preferred_language` varchar(35) DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `timestamp` datetime(3) NOT NULL,
  `received_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`,`timestamp`),
  UNIQUE KEY `events_client_event` (`app_id`,`client_event_id`,`timestamp`),
  KEY `events_user` (`app_user_id`,`is_dev`,`timestamp`,`id`),
  KEY `events_app` (`app_id`,`is_dev`,`timestamp`,`id`,`level`,`environment`,`session_id`,`app_user_id`),
  KEY `events_session` (`session_id`,`is_dev`,`timestamp`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin
 PARTITION BY RANGE  COLUMNS(`timestamp`)
(PARTITION `later` VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB);

CREATE TABLE `feedback` (
  `id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `session_id` binary(16) DEFAULT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `frozen_user_id` varchar(255) DEFAULT NULL,
  `message` text NOT NULL,
  `submitter_name` varchar(255) DEFAULT NULL,
  `submitter_email` varchar(320) DEFAULT NULL,
  `status` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT 'new',
  `is_dev` tinyint(1) NOT NULL,
  `environment` enum('ios','ipados','macos','watchos','android','web','backend') DEFAULT NULL,
  `os_version` varchar(50) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `sdk_name` varchar(50) DEFAULT NULL,
  `sdk_version` varchar(50) DEFAULT NULL,
  `device_model` varchar(100) DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `feedback_project` (`project_id`,`created_at`),
  KEY `feedback_user` (`app_user_id`),
  KEY `feedback_app` (`app_id`,`deleted_at`,`is_dev`,`created_at`),
  CONSTRAINT `feedback_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE `funnel_events` (
  `id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `client_event_id` binary(16) DEFAULT NULL,
  `session_id` binary(16) NOT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `api_key_id` binary(16) DEFAULT NULL,
  `step_name` varchar(255) NOT NULL,
  `message` mediumtext NOT NULL,
  `screen_name` varchar(255) DEFAULT NULL,
  `custom_attributes` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`custom_attributes`)),
  `environment` enum('ios','ipados','macos','watchos','android','web','backend') DEFAULT NULL,
  `os_version` varchar(50) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `sdk_name` varchar(50) DEFAULT NULL,
  `sdk_version` varchar(50) DEFAULT NULL,
  `device_model` varchar(100) DEFAULT NULL,
  `build_number` varchar(50) DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `timestamp` datetime(3) NOT NULL,
  `received_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`,`timestamp`),
  KEY `funnel_events_step` (`app_id`,`step_name`,`timestamp`),
  KEY `funnel_events_user` (`app_user_id`,`timestamp`),
  KEY `funnel_events_client_event` (`app_id`,`client_event_id`,`timestamp`),
  KEY `funnel_events_app` (`app_id`,`timestamp`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin
 PARTITION BY RANGE  COLUMNS(`timestamp`)
(PARTITION `later` VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB);

CREATE TABLE `grants` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `application_id` bigint(20) unsigned NOT NULL,
  `sub` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `scopes` text CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_used_at` datetime(3) DEFAULT NULL,
  `revoked_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `grants_application_sub` (`application_id`,`sub`),
  KEY `grants_user` (`user_id`,`application_id`),
  CONSTRAINT `grants_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE,
  CONSTRAINT `grants_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `idempotency_records` (
  `caller_digest` binary(32) NOT NULL,
  `key_digest` binary(32) NOT NULL,
  `fingerprint` binary(32) NOT NULL,
  `answer` mediumblob DEFAULT NULL,
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`caller_digest`,`key_digest`),
  KEY `idempotency_records_expires` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `identities` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `provider` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `sub` varchar(255) NOT NULL,
  `email` varchar(320) DEFAULT NULL,
  `email_verified` tinyint(1) NOT NULL DEFAULT 0,
  `email_authoritative` tinyint(1) NOT NULL DEFAULT 0,
  `linked_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `identities_provider_sub` (`provider`,`sub`),
  KEY `identities_user` (`user_id`),
  CONSTRAINT `identities_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE `identity_claims` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `project_id` binary(16) NOT NULL,
  `anonymous_id` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `app_user_id` bigint(20) unsigned NOT NULL,
  `claimed_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `identity_claims_claim` (`project_id`,`anonymous_id`,`app_user_id`),
  KEY `identity_claims_user` (`app_user_id`,`claimed_at`),
  KEY `identity_claims_latest` (`project_id`,`anonymous_id`,`claimed_at`),
  CONSTRAINT `identity_claims_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `identity_links` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `primary_user_id` bigint(20) unsigned NOT NULL,
  `linked_user_id` bigint(20) unsigned NOT NULL,
  `merged_via` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `idempotency_key` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `identity_links_linked` (`linked_user_id`),
  UNIQUE KEY `identity_links_idempotency_key` (`idempotency_key`),
  KEY `identity_links_primary` (`primary_user_id`),
  CONSTRAINT `identity_links_linked_fk` FOREIGN KEY (`linked_user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE,
  CONSTRAINT `identity_links_primary_fk` FOREIGN KEY (`primary_user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE,
  CONSTRAINT `identity_links_not_itself` CHECK (`primary_user_id` <> `linked_user_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TRIGGER identity_links_flat_insert BEFORE INSERT ON identity_links FOR EACH ROW
BEGIN
    IF EXISTS (SELECT 1 FROM identity_links WHERE linked_user_id = NEW.primary_user_id OR primary_user_id = NEW.linked_user_id) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'identity_links: a linked user cannot be a primary';
    END IF;
END;

CREATE TRIGGER identity_links_flat_update BEFORE UPDATE ON identity_links FOR EACH ROW
BEGIN
    IF EXISTS (SELECT 1 FROM identity_links WHERE id <> NEW.id AND (linked_user_id = NEW.primary_user_id OR primary_user_id = NEW.linked_user_id)) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'identity_links: a linked user cannot be a primary';
    END IF;
END;

CREATE TABLE `issue_occurrences` (
  `id` binary(16) NOT NULL,
  `issue_id` binary(16) NOT NULL,
  `session_id` binary(16) NOT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `event_id` binary(16) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `environment` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `timestamp` datetime(3) NOT NULL,
  `created_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `issue_occurrences_session` (`issue_id`,`session_id`),
  KEY `issue_occurrences_user` (`app_user_id`),
  CONSTRAINT `issue_occurrences_issue_fk` FOREIGN KEY (`issue_id`) REFERENCES `issues` (`id`) ON DELETE CASCADE,
  CONSTRAINT `issue_occurrences_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `issues` (
  `id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `status` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `title` varchar(1000) NOT NULL,
  `source_module` mediumtext DEFAULT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `occurrence_count` bigint(20) unsigned NOT NULL DEFAULT 0,
  `unique_user_count` bigint(20) unsigned NOT NULL DEFAULT 0,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `issues_project_status` (`project_id`,`status`),
  KEY `issues_app` (`app_id`),
  CONSTRAINT `issues_app_fk` FOREIGN KEY (`app_id`) REFERENCES `apps` (`id`),
  CONSTRAINT `issues_project_fk` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `login_events` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `event` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `provider` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `ip` varchar(45) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `user_agent` varchar(500) DEFAULT NULL,
  `platform` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  KEY `login_events_user` (`user_id`,`id`),
  KEY `login_events_created` (`created_at`),
  CONSTRAINT `login_events_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `metric_events` (
  `id` binary(16) NOT NULL,
  `app_id` binary(16) NOT NULL,
  `client_event_id` binary(16) DEFAULT NULL,
  `session_id` binary(16) NOT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `api_key_id` binary(16) DEFAULT NULL,
  `metric_slug` varchar(255) NOT NULL,
  `phase` enum('start','complete','fail','cancel','record') NOT NULL,
  `tracking_id` binary(16) DEFAULT NULL,
  `duration_ms` int(11) DEFAULT NULL,
  `error` mediumtext DEFAULT NULL,
  `attributes` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`attributes`)),
  `environment` enum('ios','ipados','macos','watchos','android','web','backend') DEFAULT NULL,
  `os_version` varchar(50) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `sdk_name` varchar(50) DEFAULT NULL,
  `sdk_version` varchar(50) DEFAULT NULL,
  `device_model` varchar(100) DEFAULT NULL,
  `build_number` varchar(50) DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `timestamp` datetime(3) NOT NULL,
  `received_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`,`timestamp`),
  KEY `metric_events_slug` (`app_id`,`metric_slug`,`timestamp`),
  KEY `metric_events_user` (`app_user_id`,`timestamp`),
  KEY `metric_events_client_event` (`app_id`,`client_event_id`,`timestamp`),
  KEY `metric_events_app` (`app_id`,`timestamp`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin
 PARTITION BY RANGE  COLUMNS(`timestamp`)
(PARTITION `later` VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB);

CREATE TABLE `paks` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) unsigned NOT NULL,
  `device_id` bigint(20) unsigned DEFAULT NULL,
  `application_id` bigint(20) unsigned DEFAULT NULL,
  `digest` binary(32) NOT NULL,
  `scopes` varchar(500) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `label` varchar(255) DEFAULT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `revoked_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `paks_digest` (`digest`),
  KEY `paks_user` (`user_id`),
  KEY `paks_device` (`device_id`,`revoked_at`),
  KEY `paks_application` (`application_id`),
  KEY `paks_revoked` (`revoked_at`),
  CONSTRAINT `paks_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE,
  CONSTRAINT `paks_device_fk` FOREIGN KEY (`device_id`) REFERENCES `devices` (`id`) ON DELETE SET NULL,
  CONSTRAINT `paks_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `projects` (
  `id` binary(16) NOT NULL,
  `team_id` binary(16) NOT NULL,
  `name` varchar(200) NOT NULL,
  `slug` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `color` varchar(32) DEFAULT NULL,
  `claim_conflict` enum('latest','refuse') NOT NULL DEFAULT 'latest',
  `retention_days_events` int(10) unsigned DEFAULT NULL,
  `retention_days_metrics` int(10) unsigned DEFAULT NULL,
  `retention_days_funnels` int(10) unsigned DEFAULT NULL,
  `attachment_user_quota_bytes` bigint(20) unsigned DEFAULT NULL,
  `attachment_project_quota_bytes` bigint(20) unsigned DEFAULT NULL,
  `attachment_bytes` bigint(20) unsigned NOT NULL DEFAULT 0,
  `attachment_files` bigint(20) unsigned NOT NULL DEFAULT 0,
  `created_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `projects_team_slug` (`team_id`,`slug`),
  CONSTRAINT `projects_team_fk` FOREIGN KEY (`team_id`) REFERENCES `teams` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `provider_sign_ins` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `provider` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `state_digest` binary(32) NOT NULL,
  `browser_digest` binary(32) NOT NULL,
  `sealed` blob DEFAULT NULL,
  `finish_digest` binary(32) DEFAULT NULL,
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `provider_sign_ins_state` (`state_digest`),
  UNIQUE KEY `provider_sign_ins_finish` (`finish_digest`),
  KEY `provider_sign_ins_expires` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `push_approval_requests` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `requested_user_id` bigint(20) unsigned DEFAULT NULL,
  `approved_user_id` bigint(20) unsigned DEFAULT NULL,
  `status` enum('pending','approved','denied','expired') NOT NULL DEFAULT 'pending',
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `push_approval_requests_requested` (`requested_user_id`),
  KEY `push_approval_requests_approved` (`approved_user_id`),
  KEY `push_approval_requests_expires` (`expires_at`),
  CONSTRAINT `push_approval_requests_approved_fk` FOREIGN KEY (`approved_user_id`) REFERENCES `users` (`id`) ON DELETE SET NULL,
  CONSTRAINT `push_approval_requests_requested_fk` FOREIGN KEY (`requested_user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `questionnaire_responses` (
  `id` binary(16) NOT NULL,
  `questionnaire_id` binary(16) NOT NULL,
  `slug` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `app_id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `session_id` binary(16) DEFAULT NULL,
  `app_user_id` bigint(20) unsigned DEFAULT NULL,
  `frozen_user_id` varchar(255) DEFAULT NULL,
  `answers` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL CHECK (json_valid(`answers`)),
  `schema_snapshot` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`schema_snapshot`)),
  `submitted_at` datetime(3) DEFAULT NULL,
  `status` enum('draft','new','in_review','addressed','dismissed') NOT NULL,
  `is_dev` tinyint(1) NOT NULL,
  `environment` enum('ios','ipados','macos','watchos','android','web','backend') DEFAULT NULL,
  `os_version` varchar(50) DEFAULT NULL,
  `app_version` varchar(50) DEFAULT NULL,
  `sdk_name` varchar(50) DEFAULT NULL,
  `sdk_version` varchar(50) DEFAULT NULL,
  `device_model` varchar(100) DEFAULT NULL,
  `country_code` char(2) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  `is_live` tinyint(1) GENERATED ALWAYS AS (if(`deleted_at` is null,1,NULL)) STORED,
  PRIMARY KEY (`id`),
  UNIQUE KEY `questionnaire_responses_live` (`project_id`,`slug`,`app_user_id`,`is_live`),
  KEY `questionnaire_responses_user` (`app_user_id`),
  KEY `questionnaire_responses_questionnaire` (`questionnaire_id`),
  KEY `questionnaire_responses_app` (`app_id`),
  CONSTRAINT `questionnaire_responses_questionnaire_fk` FOREIGN KEY (`questionnaire_id`) REFERENCES `questionnaires` (`id`),
  CONSTRAINT `questionnaire_responses_user_fk` FOREIGN KEY (`app_user_id`) REFERENCES `app_users` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE `questionnaires` (
  `id` binary(16) NOT NULL,
  `project_id` binary(16) NOT NULL,
  `app_id` binary(16) DEFAULT NULL,
  `slug` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `name` varchar(200) NOT NULL,
  `description` text DEFAULT NULL,
  `schema` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL CHECK (json_valid(`schema`)),
  `is_active` tinyint(1) NOT NULL DEFAULT 1,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  `live_slug` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin GENERATED ALWAYS AS (if(`deleted_at` is null,`slug`,NULL)) STORED,
  PRIMARY KEY (`id`),
  UNIQUE KEY `questionnaires_live_slug` (`project_id`,`live_slug`),
  KEY `questionnaires_app` (`app_id`),
  CONSTRAINT `questionnaires_app_fk` FOREIGN KEY (`app_id`) REFERENCES `apps` (`id`),
  CONSTRAINT `questionnaires_project_fk` FOREIGN KEY (`project_id`) REFERENCES `projects` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE `rate_limits` (
  `digest` binary(32) NOT NULL,
  `count` int(10) unsigned NOT NULL,
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`digest`),
  KEY `rate_limits_expires` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `refresh_families` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `grant_id` bigint(20) unsigned NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `revoked_at` datetime(3) DEFAULT NULL,
  `handle` binary(16) DEFAULT NULL,
  `scopes` text CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  `authenticated_at` datetime(3) DEFAULT NULL,
  `current_digest` binary(32) DEFAULT NULL,
  `current_expires_at` datetime(3) DEFAULT NULL,
  `predecessor_digest` binary(32) DEFAULT NULL,
  `sealed_answer` mediumblob DEFAULT NULL,
  `answer_expires_at` datetime(3) DEFAULT NULL,
  `answered_scope` text CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `refresh_families_handle` (`handle`),
  KEY `refresh_families_grant` (`grant_id`),
  KEY `refresh_families_current_expires` (`current_expires_at`),
  KEY `refresh_families_answer_expires` (`answer_expires_at`),
  CONSTRAINT `refresh_families_grant_fk` FOREIGN KEY (`grant_id`) REFERENCES `grants` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `refresh_tokens` (
  `digest` binary(32) NOT NULL,
  `refresh_family_id` bigint(20) unsigned NOT NULL,
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`digest`),
  KEY `refresh_tokens_family` (`refresh_family_id`),
  KEY `refresh_tokens_expires` (`expires_at`),
  CONSTRAINT `refresh_tokens_family_fk` FOREIGN KEY (`refresh_family_id`) REFERENCES `refresh_families` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `retention_horizons` (
  `table_name` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `horizon` datetime(3) NOT NULL,
  PRIMARY KEY (`table_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `revoked_access_tokens` (
  `jti` binary(24) NOT NULL,
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`jti`),
  KEY `revoked_access_tokens_expires` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `schema_migrations` (
  `number` int(10) unsigned NOT NULL,
  `name` varchar(100) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `digest` binary(32) NOT NULL,
  `compatible_since` int(10) unsigned NOT NULL,
  `started_at` datetime(3) NOT NULL,
  `finished_at` datetime(3) DEFAULT NULL,
  `statements_started` int(10) unsigned NOT NULL,
  `statements_done` int(10) unsigned NOT NULL,
  `done_digest` binary(32) NOT NULL,
  PRIMARY KEY (`number`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `signing_keys` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `kid` char(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `public_jwk` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`public_jwk`)),
  `sealed_private_key` varbinary(8192) DEFAULT NULL,
  `published_at` datetime(3) NOT NULL,
  `activated_at` datetime(3) DEFAULT NULL,
  `retired_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `signing_keys_kid` (`kid`),
  CONSTRAINT `signing_keys_order` CHECK (`activated_at` >= `published_at` and `retired_at` >= `activated_at`),
  CONSTRAINT `signing_keys_published` CHECK (`public_jwk` is not null or `sealed_private_key` is null and `activated_at` is not null and `retired_at` is not null)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `swap_tickets` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `digest` binary(32) NOT NULL,
  `user_id` bigint(20) unsigned NOT NULL,
  `provider` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `sub` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  `used_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `swap_tickets_digest` (`digest`),
  KEY `swap_tickets_user` (`user_id`),
  KEY `swap_tickets_expires` (`expires_at`),
  CONSTRAINT `swap_tickets_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `teams` (
  `id` binary(16) NOT NULL,
  `name` varchar(200) NOT NULL,
  `created_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `users` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `version` int(10) unsigned NOT NULL DEFAULT 0,
  `anonymous` tinyint(1) NOT NULL DEFAULT 0,
  `previously_anonymous` tinyint(1) NOT NULL DEFAULT 0,
  `name` varchar(200) DEFAULT NULL,
  `nickname` varchar(200) DEFAULT NULL,
  `contact_email` varchar(320) DEFAULT NULL,
  `login_email` varchar(320) DEFAULT NULL,
  `login_email_authoritative` tinyint(1) NOT NULL DEFAULT 0,
  `role` enum('user','developer','admin') NOT NULL DEFAULT 'user',
  `custom_claims` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`custom_claims`)),
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_active_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `deleted_at` datetime(3) DEFAULT NULL,
  `purge_at` datetime(3) DEFAULT NULL,
  `live_login_email` varchar(320) GENERATED ALWAYS AS (if(`deleted_at` is null,`login_email`,NULL)) STORED,
  `phone_number` varchar(32) DEFAULT NULL,
  `address` varchar(500) DEFAULT NULL,
  `postal_code` varchar(32) DEFAULT NULL,
  `verified_level` tinyint(3) unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE KEY `users_live_login_email` (`live_login_email`),
  KEY `users_purge_at` (`purge_at`),
  KEY `users_inactive` (`anonymous`,`last_active_at`),
  CONSTRAINT `users_login_email_authoritative` CHECK (`login_email` is not null or `login_email_authoritative` = 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE `web_sessions` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `digest` binary(32) NOT NULL,
  `user_id` bigint(20) unsigned NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_used_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  `provider` varchar(16) CHARACTER SET ascii COLLATE ascii_nopad_bin DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `web_sessions_digest` (`digest`),
  KEY `web_sessions_user` (`user_id`),
  KEY `web_sessions_expires` (`expires_at`),
  CONSTRAINT `web_sessions_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `webhook_keys` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `application_id` bigint(20) unsigned NOT NULL,
  `kid` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `sealed_secret` varbinary(255) NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `retired_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `webhook_keys_application_kid` (`application_id`,`kid`),
  CONSTRAINT `webhook_keys_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `webhook_outbox` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `application_id` bigint(20) unsigned NOT NULL,
  `event_id` varchar(30) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `event_type` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `raw_payload` mediumblob NOT NULL,
  `attempts` int(10) unsigned NOT NULL DEFAULT 0,
  `next_attempt_at` datetime(3) DEFAULT NULL,
  `delivered_at` datetime(3) DEFAULT NULL,
  `dlq_at` datetime(3) DEFAULT NULL,
  `failure_reason` varchar(255) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `webhook_outbox_event` (`application_id`,`event_id`),
  KEY `webhook_outbox_due` (`next_attempt_at`),
  CONSTRAINT `webhook_outbox_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `app_user_apps_resolved` AS select coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`app_id` AS `app_id`,`t`.`first_seen_at` AS `first_seen_at`,`t`.`last_seen_at` AS `last_seen_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`app_user_apps` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `app_user_event_counts_resolved` AS select coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`month` AS `month`,`t`.`n` AS `n`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`app_user_event_counts` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `app_users_resolved` AS select `u`.`id` AS `id`,`u`.`public_id` AS `public_id`,`u`.`project_id` AS `project_id`,`u`.`user_id` AS `user_id`,`u`.`is_anonymous` AS `is_anonymous`,`u`.`properties` AS `properties`,`u`.`first_seen_at` AS `first_seen_at`,`u`.`last_seen_at` AS `last_seen_at`,`u`.`last_country_code` AS `last_country_code`,`u`.`last_app_version` AS `last_app_version`,`u`.`last_sdk_name` AS `last_sdk_name`,`u`.`last_sdk_version` AS `last_sdk_version`,`u`.`last_locale` AS `last_locale`,`u`.`last_preferred_language` AS `last_preferred_language`,`u`.`total_revenue_usd_cents` AS `total_revenue_usd_cents`,`u`.`revenue_synced_at` AS `revenue_synced_at`,`u`.`is_dev` AS `is_dev`,(select json_arrayagg(`c`.`anonymous_id` order by `c`.`claimed_at` ASC) from `identity_claims` `c` where `c`.`app_user_id` = `u`.`id`) AS `claimed_from` from `app_users` `u` where `u`.`merged_into` is null;

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `event_attachments_resolved` AS select `t`.`id` AS `id`,`t`.`project_id` AS `project_id`,`t`.`app_id` AS `app_id`,`t`.`event_client_id` AS `event_client_id`,`t`.`event_id` AS `event_id`,`t`.`issue_id` AS `issue_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`frozen_user_id` AS `frozen_user_id`,`t`.`original_filename` AS `original_filename`,`t`.`content_type` AS `content_type`,`t`.`size_bytes` AS `size_bytes`,`t`.`sha256` AS `sha256`,`t`.`is_dev` AS `is_dev`,`t`.`uploaded_at` AS `uploaded_at`,`t`.`created_at` AS `created_at`,`t`.`deleted_at` AS `deleted_at`,coalesce(`t`.`frozen_user_id`,`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`event_attachments` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `events_resolved` AS select `t`.`id` AS `id`,`t`.`app_id` AS `app_id`,`t`.`client_event_id` AS `client_event_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`api_key_id` AS `api_key_id`,`t`.`level` AS `level`,`t`.`source_module` AS `source_module`,`t`.`message` AS `message`,`t`.`screen_name` AS `screen_name`,`t`.`custom_attributes` AS `custom_attributes`,`t`.`environment` AS `environment`,`t`.`os_version` AS `os_version`,`t`.`app_version` AS `app_version`,`t`.`sdk_name` AS `sdk_name`,`t`.`sdk_version` AS `sdk_version`,`t`.`device_model` AS `device_model`,`t`.`build_number` AS `build_number`,`t`.`locale` AS `locale`,`t`.`preferred_language` AS `preferred_language`,`t`.`country_code` AS `country_code`,`t`.`is_dev` AS `is_dev`,`t`.`timestamp` AS `timestamp`,`t`.`received_at` AS `received_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`events` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`)) where `t`.`timestamp` >= (select `h`.`horizon` from `retention_horizons` `h` where `h`.`table_name` = 'events');

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `feedback_resolved` AS select `t`.`id` AS `id`,`t`.`app_id` AS `app_id`,`t`.`project_id` AS `project_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`frozen_user_id` AS `frozen_user_id`,`t`.`message` AS `message`,`t`.`submitter_name` AS `submitter_name`,`t`.`submitter_email` AS `submitter_email`,`t`.`status` AS `status`,`t`.`is_dev` AS `is_dev`,`t`.`environment` AS `environment`,`t`.`os_version` AS `os_version`,`t`.`app_version` AS `app_version`,`t`.`sdk_name` AS `sdk_name`,`t`.`sdk_version` AS `sdk_version`,`t`.`device_model` AS `device_model`,`t`.`country_code` AS `country_code`,`t`.`created_at` AS `created_at`,`t`.`updated_at` AS `updated_at`,`t`.`deleted_at` AS `deleted_at`,coalesce(`t`.`frozen_user_id`,`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`feedback` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `funnel_events_resolved` AS select `t`.`id` AS `id`,`t`.`app_id` AS `app_id`,`t`.`client_event_id` AS `client_event_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`api_key_id` AS `api_key_id`,`t`.`step_name` AS `step_name`,`t`.`message` AS `message`,`t`.`screen_name` AS `screen_name`,`t`.`custom_attributes` AS `custom_attributes`,`t`.`environment` AS `environment`,`t`.`os_version` AS `os_version`,`t`.`app_version` AS `app_version`,`t`.`sdk_name` AS `sdk_name`,`t`.`sdk_version` AS `sdk_version`,`t`.`device_model` AS `device_model`,`t`.`build_number` AS `build_number`,`t`.`country_code` AS `country_code`,`t`.`is_dev` AS `is_dev`,`t`.`timestamp` AS `timestamp`,`t`.`received_at` AS `received_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`funnel_events` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`)) where `t`.`timestamp` >= (select `h`.`horizon` from `retention_horizons` `h` where `h`.`table_name` = 'funnel_events');

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `identity_claims_resolved` AS select `t`.`id` AS `id`,`t`.`project_id` AS `project_id`,`t`.`anonymous_id` AS `anonymous_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`claimed_at` AS `claimed_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`identity_claims` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `issue_occurrences_resolved` AS select `t`.`id` AS `id`,`t`.`issue_id` AS `issue_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`event_id` AS `event_id`,`t`.`app_version` AS `app_version`,`t`.`environment` AS `environment`,`t`.`country_code` AS `country_code`,`t`.`timestamp` AS `timestamp`,`t`.`created_at` AS `created_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`issue_occurrences` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `metric_events_resolved` AS select `t`.`id` AS `id`,`t`.`app_id` AS `app_id`,`t`.`client_event_id` AS `client_event_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`api_key_id` AS `api_key_id`,`t`.`metric_slug` AS `metric_slug`,`t`.`phase` AS `phase`,`t`.`tracking_id` AS `tracking_id`,`t`.`duration_ms` AS `duration_ms`,`t`.`error` AS `error`,`t`.`attributes` AS `attributes`,`t`.`environment` AS `environment`,`t`.`os_version` AS `os_version`,`t`.`app_version` AS `app_version`,`t`.`sdk_name` AS `sdk_name`,`t`.`sdk_version` AS `sdk_version`,`t`.`device_model` AS `device_model`,`t`.`build_number` AS `build_number`,`t`.`country_code` AS `country_code`,`t`.`is_dev` AS `is_dev`,`t`.`timestamp` AS `timestamp`,`t`.`received_at` AS `received_at`,coalesce(`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`metric_events` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`)) where `t`.`timestamp` >= (select `h`.`horizon` from `retention_horizons` `h` where `h`.`table_name` = 'metric_events');

CREATE ALGORITHM=UNDEFINED SQL SECURITY INVOKER VIEW `questionnaire_responses_resolved` AS select `t`.`id` AS `id`,`t`.`questionnaire_id` AS `questionnaire_id`,`t`.`slug` AS `slug`,`t`.`app_id` AS `app_id`,`t`.`project_id` AS `project_id`,`t`.`session_id` AS `session_id`,coalesce(`u`.`merged_into`,`t`.`app_user_id`) AS `app_user_id`,`t`.`frozen_user_id` AS `frozen_user_id`,`t`.`answers` AS `answers`,`t`.`schema_snapshot` AS `schema_snapshot`,`t`.`submitted_at` AS `submitted_at`,`t`.`status` AS `status`,`t`.`is_dev` AS `is_dev`,`t`.`environment` AS `environment`,`t`.`os_version` AS `os_version`,`t`.`app_version` AS `app_version`,`t`.`sdk_name` AS `sdk_name`,`t`.`sdk_version` AS `sdk_version`,`t`.`device_model` AS `device_model`,`t`.`country_code` AS `country_code`,`t`.`created_at` AS `created_at`,`t`.`updated_at` AS `updated_at`,`t`.`deleted_at` AS `deleted_at`,coalesce(`t`.`frozen_user_id`,`o`.`user_id`,`u`.`user_id`) AS `user_id` from ((`questionnaire_responses` `t` left join `app_users` `u` on(`u`.`id` = `t`.`app_user_id`)) left join `app_users` `o` on(`o`.`id` = `u`.`merged_into`));

SET FOREIGN_KEY_CHECKS = 1;
