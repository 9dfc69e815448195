-- A device's launch finds in the row of the device which of its PAKs are live, and so which one is one too many (accounts §1.2).
-- compatible-since: 25

ALTER TABLE devices
    -- The ids of its live PAKs, ascending, with commas between them; NULL if whoever needs them has to read them. Whoever issues or
    -- revokes PAKs of the device writes it, under the lock of the owner.
    ADD COLUMN live_paks VARCHAR(104) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    -- They are right if this is last_seen_at: the release before sees a device at a later time when it issues a PAK. If it revokes
    -- one meanwhile, that one counts as live, and the oldest PAK ends one launch early.
    ADD COLUMN live_paks_at DATETIME(3) NULL, ALGORITHM = INSTANT, LOCK = NONE;
