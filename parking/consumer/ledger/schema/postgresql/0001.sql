-- The ledger of Siding's consumer kit, version 1, for PostgreSQL. Times are milliseconds since 1970.
-- Run by ledger.prepare(); or by your own migrations, with the row in siding_version.

CREATE TABLE siding_version (version integer PRIMARY KEY);

CREATE TABLE siding_hold (
    flow text NOT NULL,
    key_digest bytea NOT NULL,           -- SHA-256 of hold_key, which may be too long for an index
    hold_key bytea NOT NULL,
    quarantined boolean NOT NULL DEFAULT false,
    blocked_by bytea,                    -- event id, UTF-8 (may contain NUL, which text cannot)
    floor bigint NOT NULL DEFAULT 0,     -- the smallest token that may still act
    released bigint NOT NULL DEFAULT 0,  -- token of the last release
    released_position bigint NOT NULL DEFAULT 0,
    next_position bigint NOT NULL DEFAULT 0,
    buffer_until bigint,
    PRIMARY KEY (flow, key_digest)
);

CREATE TABLE siding_fate (
    flow text NOT NULL,
    id_digest bytea NOT NULL,            -- SHA-256 of event_id
    event_id bytea NOT NULL,
    state text NOT NULL CHECK (state IN ('held', 'applied', 'skipped')),
    kind text CHECK (kind IN ('poison', 'held')),
    key_digest bytea NOT NULL,
    hold_key bytea NOT NULL,
    position bigint,
    source_topic text NOT NULL,
    source_partition integer NOT NULL,
    source_offset bigint NOT NULL,
    source_timestamp bigint NOT NULL,
    content bytea NOT NULL,              -- SHA-256 of key and value of the source record
    source_fingerprint bytea NOT NULL,
    fingerprint bytea,                   -- of what was applied or skipped
    token bigint NOT NULL DEFAULT 0,
    attempt_number integer NOT NULL DEFAULT 0,
    attempts bytea,                      -- JSON of the tries that were announced last
    result bytea,                        -- JSON of the evidence
    at bigint NOT NULL,
    PRIMARY KEY (flow, id_digest),
    CHECK (state <> 'held' OR (position IS NOT NULL AND kind IS NOT NULL)),
    CHECK (state = 'held' OR fingerprint IS NOT NULL)
);

CREATE UNIQUE INDEX siding_fate_held ON siding_fate (flow, key_digest, position) WHERE state = 'held';

CREATE TABLE siding_announcement (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    flow text NOT NULL,
    key_digest bytea NOT NULL,
    hold_key bytea NOT NULL,
    record bytea NOT NULL                -- key, value, then name and value of each header, each with its length
);

CREATE INDEX siding_announcement_key ON siding_announcement (flow, key_digest, sequence);

INSERT INTO siding_version (version) VALUES (1);
