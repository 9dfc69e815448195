-- Whether there is anything to look for when somebody asks who an account is (accounts §2.7). Nearly nobody has merged accounts.
-- compatible-since: 25

ALTER TABLE users
    -- Whether a merge ever named it, or subs were swapped into it. Never taken back, also if that is undone: then there is
    -- only nothing to be found. Triggers write it, so that what the release before merges is marked, too.
    ADD COLUMN has_merges BOOLEAN NOT NULL DEFAULT FALSE, ALGORITHM = INSTANT, LOCK = NONE;

-- Whoever writes these rows holds the locks of the users that are marked here. A link that gets another primary has a linked
-- user whom nobody has locked, and who has the mark.
CREATE TRIGGER identity_links_mark_insert AFTER INSERT ON identity_links FOR EACH ROW
BEGIN
    UPDATE users SET has_merges = TRUE WHERE id IN (NEW.primary_user_id, NEW.linked_user_id) AND NOT has_merges;
END;

CREATE TRIGGER identity_links_mark_update AFTER UPDATE ON identity_links FOR EACH ROW
BEGIN
    IF NEW.primary_user_id <> OLD.primary_user_id THEN
        UPDATE users SET has_merges = TRUE WHERE id = NEW.primary_user_id AND NOT has_merges;
    END IF;
END;

CREATE TRIGGER absorbed_subs_mark_insert AFTER INSERT ON absorbed_subs FOR EACH ROW
BEGIN
    UPDATE users SET has_merges = TRUE WHERE id = NEW.canonical_user_id AND NOT has_merges;
END;

CREATE TRIGGER absorbed_subs_mark_update AFTER UPDATE ON absorbed_subs FOR EACH ROW
BEGIN
    IF NEW.canonical_user_id <> OLD.canonical_user_id THEN
        UPDATE users SET has_merges = TRUE WHERE id = NEW.canonical_user_id AND NOT has_merges;
    END IF;
END;

-- Creating the triggers waits for whoever writes without them: from here on only rows that are there already are unmarked.
UPDATE users u
JOIN (SELECT primary_user_id AS id FROM identity_links UNION SELECT linked_user_id FROM identity_links
      UNION SELECT canonical_user_id FROM absorbed_subs) named ON named.id = u.id
SET u.has_merges = TRUE
WHERE NOT u.has_merges;
