-- The ledger of Siding's consumer kit, version 3, for PostgreSQL: what version 2 lacks.
-- Run by ledger.prepare(); or by your own migrations, with the row in siding_version.

-- Who works on a partition and has not given it back: whoever finds a row of somebody else follows an unclean end.
CREATE TABLE siding_owner (
    flow text NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    owner text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (flow, topic, partition)
);

-- Tries that were recorded before they began, because the one before may have ended its process.
CREATE TABLE siding_begun (
    flow text NOT NULL,
    id_digest bytea NOT NULL,            -- SHA-256 of event id
    token bigint NOT NULL,                -- 0 = live
    begun integer NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (flow, id_digest, token)
);

-- The mode of a flow (scope ''), an event type (type:...) or a tenant (tenant:...): the newest row of a scope counts.
CREATE TABLE siding_mode (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    flow text NOT NULL,
    scope text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('autonomous', 'shadow', 'fallback')),
    who text NOT NULL,
    why text NOT NULL,
    at bigint NOT NULL
);

CREATE INDEX siding_mode_scope ON siding_mode (flow, scope, sequence);

-- Where the handler in the shadow decided otherwise than the one that acts.
CREATE TABLE siding_disagreement (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    flow text NOT NULL,
    event_id bytea NOT NULL,
    hold_key bytea NOT NULL,
    acted bytea,                         -- JSON of the result that took effect
    shadow bytea,                        -- JSON of the result, or the error, in the shadow
    at bigint NOT NULL
);

CREATE INDEX siding_disagreement_flow ON siding_disagreement (flow, sequence);

-- Events of the service's own, written in one transaction with the state that they tell of, until they are published.
CREATE TABLE siding_outgoing (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    flow text NOT NULL,
    topic text NOT NULL,
    record bytea NOT NULL,               -- key, value, then name and value of each header, each with its length
    at bigint NOT NULL
);

CREATE INDEX siding_outgoing_flow ON siding_outgoing (flow, sequence);

INSERT INTO siding_version (version) VALUES (3);
