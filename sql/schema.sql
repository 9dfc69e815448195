-- Made by `merganserctl migrate schema` from the migrations. Not to be edited, nor run by anybody but tests.

SET FOREIGN_KEY_CHECKS = 0;

CREATE TABLE `absorbed_subs` (
  `application_id` bigint(20) unsigned NOT NULL,
  `sub` varchar(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `canonical_user_id` bigint(20) unsigned NOT NULL,
  `via` varchar(32) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
  `was_anonymous` tinyint(1) NOT NULL,
  `occurred_at` datetime(3) NOT NULL,
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

CREATE TABLE `application_event_counters` (
  `application_id` bigint(20) unsigned NOT NULL,
  `last_ulid` varchar(26) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '',
  PRIMARY KEY (`application_id`),
  CONSTRAINT `application_event_counters_application_fk` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE CASCADE
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
  PRIMARY KEY (`id`),
  UNIQUE KEY `applications_client_id` (`client_id`),
  UNIQUE KEY `applications_secret_digest` (`secret_digest`),
  KEY `applications_owner` (`owner_user_id`),
  CONSTRAINT `applications_owner_fk` FOREIGN KEY (`owner_user_id`) REFERENCES `users` (`id`) ON DELETE SET NULL
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
  PRIMARY KEY (`id`),
  UNIQUE KEY `authorization_codes_digest` (`digest`),
  KEY `authorization_codes_grant` (`grant_id`),
  KEY `authorization_codes_expires` (`expires_at`),
  CONSTRAINT `authorization_codes_grant_fk` FOREIGN KEY (`grant_id`) REFERENCES `grants` (`id`) ON DELETE CASCADE
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
  `sub` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL,
  `email` varchar(320) DEFAULT NULL,
  `email_verified` tinyint(1) NOT NULL DEFAULT 0,
  `linked_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  PRIMARY KEY (`id`),
  UNIQUE KEY `identities_provider_sub` (`provider`,`sub`),
  KEY `identities_user` (`user_id`),
  CONSTRAINT `identities_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
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

CREATE TABLE `refresh_families` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `grant_id` bigint(20) unsigned NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `revoked_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `refresh_families_grant` (`grant_id`),
  CONSTRAINT `refresh_families_grant_fk` FOREIGN KEY (`grant_id`) REFERENCES `grants` (`id`) ON DELETE CASCADE
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

CREATE TABLE `users` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `version` int(10) unsigned NOT NULL DEFAULT 0,
  `anonymous` tinyint(1) NOT NULL DEFAULT 0,
  `previously_anonymous` tinyint(1) NOT NULL DEFAULT 0,
  `name` varchar(200) DEFAULT NULL,
  `nickname` varchar(200) DEFAULT NULL,
  `contact_email` varchar(320) DEFAULT NULL,
  `login_email` varchar(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL,
  `role` enum('user','developer','admin') NOT NULL DEFAULT 'user',
  `custom_claims` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`custom_claims`)),
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_active_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `deleted_at` datetime(3) DEFAULT NULL,
  `purge_at` datetime(3) DEFAULT NULL,
  `live_login_email` varchar(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin GENERATED ALWAYS AS (if(`deleted_at` is null,`login_email`,NULL)) STORED,
  PRIMARY KEY (`id`),
  UNIQUE KEY `users_live_login_email` (`live_login_email`),
  KEY `users_purge_at` (`purge_at`),
  KEY `users_inactive` (`anonymous`,`last_active_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE TABLE `web_sessions` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `digest` binary(32) NOT NULL,
  `user_id` bigint(20) unsigned NOT NULL,
  `created_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `last_used_at` datetime(3) NOT NULL DEFAULT current_timestamp(3),
  `expires_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `web_sessions_digest` (`digest`),
  KEY `web_sessions_user` (`user_id`),
  KEY `web_sessions_expires` (`expires_at`),
  CONSTRAINT `web_sessions_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE
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

SET FOREIGN_KEY_CHECKS = 1;
