-- What merges and swaps did, sealed and kept for a while, so that an operator can take them back (accounts Stage 6).
-- compatible-since: 25

CREATE TABLE merge_journals (
    id               BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    survivor_user_id BIGINT UNSIGNED NOT NULL,
    -- Deleted by a swap.
    absorbed_user_id BIGINT UNSIGNED NOT NULL,
    -- Null: a swap's. The undo deletes the link.
    identity_link_id BIGINT UNSIGNED NULL,
    merged_via       VARCHAR(32) COLLATE ascii_nopad_bin NOT NULL,
    created_at       DATETIME(3) NOT NULL,
    expires_at       DATETIME(3) NOT NULL,
    undone_at        DATETIME(3) NULL,
    PRIMARY KEY (id),
    UNIQUE KEY merge_journals_link (identity_link_id),
    KEY merge_journals_survivor (survivor_user_id, created_at, identity_link_id),
    KEY merge_journals_absorbed (absorbed_user_id, created_at, identity_link_id),
    KEY merge_journals_created (created_at, identity_link_id),
    KEY merge_journals_expires (expires_at),
    CONSTRAINT merge_journals_survivor_fk FOREIGN KEY (survivor_user_id) REFERENCES users (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- The contents of a journal in pieces.
CREATE TABLE merge_journal_parts (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    journal_id BIGINT UNSIGNED NOT NULL,
    -- Whose rows the part is about: the accounts' own or those of analytics' records.
    kind       ENUM('accounts', 'records') NOT NULL,
    number     SMALLINT UNSIGNED NOT NULL,
    sealed     LONGBLOB NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY merge_journal_parts_number (journal_id, kind, number),
    CONSTRAINT merge_journal_parts_journal_fk FOREIGN KEY (journal_id) REFERENCES merge_journals (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci;

-- Merges are listed with swaps, by time.
ALTER TABLE identity_links
    ADD KEY identity_links_created (created_at, id),
    ADD KEY identity_links_survivor (primary_user_id, created_at, id), ALGORITHM = INPLACE, LOCK = NONE;
