-- The ledger of Siding's consumer kit, version 1, for SQLite. Times are milliseconds since 1970.
-- Run by ledger.prepare(); or by your own migrations, with the row in siding_version.

CREATE TABLE siding_version (version integer PRIMARY KEY);

CREATE TABLE siding_hold (
    flow text NOT NULL,
    key_digest blob NOT NULL,           -- SHA-256 of hold_key, which may be too long for an index
    hold_key blob NOT NULL,
    quarantined boolean NOT NULL DEFAULT 0,
    blocked_by blob,                    -- event id, UTF-8
    floor integer NOT NULL DEFAULT 0,     -- the smallest token that may still act
    released integer NOT NULL DEFAULT 0,  -- token of the last release
    released_position integer NOT NULL DEFAULT 0,
    next_position integer NOT NULL DEFAULT 0,
    buffer_until integer,
    PRIMARY KEY (flow, key_digest)
);

CREATE TABLE siding_fate (
    flow text NOT NULL,
    id_digest blob NOT NULL,            -- SHA-256 of event_id
    event_id blob NOT NULL,
    state text NOT NULL CHECK (state IN ('held', 'applied', 'skipped')),
    kind text CHECK (kind IN ('poison', 'held')),
    key_digest blob NOT NULL,
    hold_key blob NOT NULL,
    position integer,
    source_topic text NOT NULL,
    source_partition integer NOT NULL,
    source_offset integer NOT NULL,
    source_timestamp integer NOT NULL,
    content blob NOT NULL,              -- SHA-256 of key and value of the source record
    source_fingerprint blob NOT NULL,
    fingerprint blob,                   -- of what was applied or skipped
    token integer NOT NULL DEFAULT 0,
    attempt_number integer NOT NULL DEFAULT 0,
    attempts blob,                      -- JSON of the tries that were announced last
    result blob,                        -- JSON of the evidence
    at integer NOT NULL,
    PRIMARY KEY (flow, id_digest),
    CHECK (state <> 'held' OR (position IS NOT NULL AND kind IS NOT NULL)),
    CHECK (state = 'held' OR fingerprint IS NOT NULL)
);

CREATE UNIQUE INDEX siding_fate_held ON siding_fate (flow, key_digest, position) WHERE state = 'held';

CREATE TABLE siding_announcement (
    sequence integer PRIMARY KEY AUTOINCREMENT,
    flow text NOT NULL,
    key_digest blob NOT NULL,
    hold_key blob NOT NULL,
    record blob NOT NULL                -- key, value, then name and value of each header, each with its length
);

CREATE INDEX siding_announcement_key ON siding_announcement (flow, key_digest, sequence);

INSERT INTO siding_version (version) VALUES (1);
