-- The ledger of Siding's consumer kit, version 4, for PostgreSQL: what version 3 lacks.
-- Run by ledger.prepare(); or by your own migrations, with the row in siding_version.

-- What the purge remembers of a flow.
CREATE TABLE siding_forgotten (
    flow text PRIMARY KEY,
    position bigint NOT NULL DEFAULT 0,  -- every position of a key that was forgotten is smaller
    edge bigint NOT NULL DEFAULT 0,      -- of what was decided before this time no record can come any more
    noted bigint NOT NULL DEFAULT 0,     -- when it was noted where the topics end
    ends bytea                            -- JSON: the offset at which each partition ended then
);

INSERT INTO siding_version (version) VALUES (4);
