// The audit log (ADR 0015): the Merkle tree over the event log, its checkpoints and keys, and its readers' tokens. It is backed up like the
// event log, because signed checkpoints must not be replaced by others.
import type { Knex } from 'knex';

const TREE = `
CREATE SCHEMA audit;

-- The size and root of the tree. It changes by compare-and-set, so that of two processes one goes on.
CREATE TABLE audit.tree (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The first line of every checkpoint. It never changes.
  origin text NOT NULL,
  -- The event store, and the position of the last leaf in it.
  store_id text NOT NULL,
  position text COLLATE "C",
  size bigint NOT NULL DEFAULT 0,
  root bytea NOT NULL,
  sealed_at timestamptz NOT NULL DEFAULT now(),
  -- Why nothing is sealed: the event log no longer is what was signed.
  stopped text,
  stopped_at timestamptz,
  CHECK ((size = 0) = (position IS NULL) AND (stopped IS NULL) = (stopped_at IS NULL))
);

-- Full tiles only: what is incomplete follows from the event log and the roots below. Hashes can't be compressed.
CREATE TABLE audit.tiles (
  level smallint NOT NULL,
  index bigint NOT NULL,
  -- The position of the last leaf, at level 0.
  position text COLLATE "C",
  root bytea NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, index),
  CHECK ((level = 0) = (position IS NOT NULL) AND length(root) = 32 AND length(hashes) = 8192)
);
ALTER TABLE audit.tiles ALTER hashes SET STORAGE EXTERNAL, ALTER hashes SET STATISTICS 0, ALTER root SET STATISTICS 0;
`;

const CHECKPOINTS = `
-- One for each signed size. The primary key keeps two roots of one size apart.
CREATE TABLE audit.checkpoints (
  size bigint PRIMARY KEY,
  note text NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX checkpoints_by_time ON audit.checkpoints (signed_at);

-- Signature lines of witnesses, the newest of each witness and size.
CREATE TABLE audit.cosignatures (
  size bigint NOT NULL REFERENCES audit.checkpoints ON DELETE CASCADE,
  witness text NOT NULL,
  line text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (size, witness)
);

-- How far each anchor outside has got.
CREATE TABLE audit.anchors (
  anchor text PRIMARY KEY,
  size bigint NOT NULL DEFAULT 0,
  sent_at timestamptz,
  retry_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  error text
);
`;

const ACCESS = `
-- Ed25519 keys. The private half is sealed under the secrets key 'key_id'. The newest one signs.
CREATE TABLE audit.keys (
  id integer PRIMARY KEY,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  key_id text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Auditors' tokens: only the hash is stored.
CREATE TABLE audit.tokens (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(TREE);
  await knex.raw(CHECKPOINTS);
  await knex.raw(ACCESS);
}

export async function down(): Promise<void> {
  throw new Error('migrations go forward only: what was signed is never dropped');
}
