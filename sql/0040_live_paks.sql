-- A device's launch finds in the row of the device which of its PAKs are live, and so which one is one too many (accounts §1.2).
-- compatible-since: 25

ALTER TABLE devices
    -- The ids of its live PAKs, ascending, with commas between them; NULL if whoever needs them has to read them. Whoever issues or
    -- revokes PAKs of the device writes it or sets it to NULL, under the lock of the owner.
    ADD COLUMN live_paks VARCHAR(104) CHARACTER SET ascii COLLATE ascii_nopad_bin NULL,
    -- They are right if this is last_seen_at: when the release before issues a PAK, it sees the device at another millisecond. Each
    -- PAK that it revokes meanwhile counts as live, and for each an older one ends a launch early.
    ADD COLUMN live_paks_at DATETIME(3) NULL, ALGORITHM = INSTANT, LOCK = NONE;
