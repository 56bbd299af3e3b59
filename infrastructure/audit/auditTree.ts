// The Merkle tree of the audit log and its checkpoints in PostgreSQL.
import type {
  AuditTree,
  LastCosigned,
  SignedCheckpoint,
  StoredTile,
  StoredTree,
} from '../../application/ports/auditTree.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import { asTimestamp, type Sql, type SqlPool } from '../../application/ports/sql.ts';

const PAGE = 500;

const TREE = `SELECT origin, store_id AS "storeId", size, root, position, ${asTimestamp('sealed_at')} AS "sealedAt", stopped FROM audit.tree`;
const CHECKPOINT = `SELECT size, note, ${asTimestamp('signed_at')} AS "signedAt" FROM audit.checkpoints`;

const find = async (db: Sql): Promise<StoredTree | null> => {
  const { rows } = await db.query<StoredTree>({ name: 'audit_tree', text: TREE });
  return rows[0] ?? null;
};

const GROW = {
  name: 'audit_grow',
  text: `UPDATE audit.tree SET size = $3, root = $4, position = $5, sealed_at = now()
    WHERE size = $1 AND root = $2 AND stopped IS NULL`,
};
// Hashes come as one value, in binary: as an array, pg would send them as text, which took 0.8 ms per tile.
const ADD_TILES = `INSERT INTO audit.tiles (level, index, position, root, hashes)
  SELECT t.level, t.index, t.position, substr($4::bytea, (t.n - 1)::int * $6 + 1, $6), substr($5::bytea, (t.n - 1)::int * $7 + 1, $7)
  FROM unnest($1::smallint[], $2::bigint[], $3::text[]) WITH ORDINALITY t(level, index, position, n)`;
/** The transaction's connection commits durably, although others of its pool need not: a signature must not outlive its tree. */
const DURABLY = 'SET LOCAL synchronous_commit = on';

/** All tiles are full. */
const addTiles = async (tx: Sql, tiles: readonly StoredTile[]): Promise<void> => {
  if (tiles[0] === undefined) return;
  const { root, hashes } = tiles[0];
  await tx.query(ADD_TILES, [
    tiles.map(({ level }) => level),
    tiles.map(({ index }) => index),
    tiles.map(({ position }) => position),
    Buffer.concat(tiles.map((tile) => tile.root)),
    Buffer.concat(tiles.map((tile) => tile.hashes)),
    root.length,
    hashes.length,
  ]);
};

const SIGN = {
  name: 'audit_sign',
  text: `INSERT INTO audit.checkpoints (size, note)
    SELECT $1, $2 FROM audit.tree WHERE size = $1 AND root = $3 AND stopped IS NULL ON CONFLICT DO NOTHING`,
};

const tiles = (db: Sql): Pick<AuditTree, 'tile' | 'roots'> => ({
  tile: async (level, index) => {
    const text = 'SELECT position, root, hashes FROM audit.tiles WHERE level = $1 AND index = $2';
    const { rows } = await db.query<Pick<StoredTile, 'position' | 'root' | 'hashes'>>(text, [level, index]);
    return rows[0] ? { level, index, ...rows[0] } : null;
  },
  roots: async (level, from, to) => {
    const text = 'SELECT root FROM audit.tiles WHERE level = $1 AND index >= $2 AND index < $3 ORDER BY index';
    return Buffer.concat((await db.query<{ root: Buffer }>(text, [level, from, to])).rows.map(({ root }) => root));
  },
});

const checkpoints = (
  db: Sql,
): Pick<
  AuditTree,
  'latest' | 'checkpoint' | 'checkpoints' | 'thinOut' | 'cosign' | 'cosignatures' | 'lastCosigned'
> => ({
  latest: async () => {
    const { rows } = await db.query<SignedCheckpoint>(`${CHECKPOINT} ORDER BY size DESC LIMIT 1`);
    return rows[0] ?? null;
  },
  checkpoint: async (size) => {
    const { rows } = await db.query<SignedCheckpoint>(`${CHECKPOINT} WHERE size = $1`, [size]);
    return rows[0] ?? null;
  },
  checkpoints: async function* (from, to) {
    const text = `${CHECKPOINT} WHERE signed_at >= $1 AND signed_at < $2 AND size > $3 ORDER BY size LIMIT ${PAGE}`;
    const read = (last: SignedCheckpoint | null) => db.query<SignedCheckpoint>(text, [from, to, last?.size ?? -1]);
    for await (const page of pagesOf(PAGE, read, (rows) => rows)) yield* page;
  },
  thinOut: async () => {
    const isOfHour = `later.signed_at >= date_trunc('hour', c.signed_at)
      AND later.signed_at < date_trunc('hour', c.signed_at) + interval '1 hour' AND later.size > c.size`;
    await db.query(
      `DELETE FROM audit.checkpoints c WHERE signed_at < now() - interval '1 day'
         AND EXISTS (SELECT FROM audit.checkpoints later WHERE ${isOfHour})
         AND NOT EXISTS (SELECT FROM audit.cosignatures s WHERE s.size = c.size AND NOT EXISTS (
           SELECT FROM audit.checkpoints later JOIN audit.cosignatures newer USING (size) WHERE newer.witness = s.witness AND ${isOfHour}))`,
    );
  },
  cosign: async (size, witness, line) => {
    await db.query(
      `INSERT INTO audit.cosignatures (size, witness, line) VALUES ($1, $2, $3)
       ON CONFLICT (size, witness) DO UPDATE SET line = excluded.line, received_at = now()`,
      [size, witness, line],
    );
  },
  cosignatures: async (size) => {
    const text = 'SELECT line FROM audit.cosignatures WHERE size = $1 ORDER BY witness';
    return (await db.query<{ line: string }>(text, [size])).rows.map(({ line }) => line);
  },
  lastCosigned: async (witnesses) => {
    const text = `SELECT wanted.witness, last.size, ${asTimestamp('last.received_at')} AS "receivedAt"
      FROM unnest($1::text[]) WITH ORDINALITY wanted(witness, number) LEFT JOIN LATERAL (
        SELECT c.size, c.received_at FROM audit.cosignatures c WHERE c.witness = wanted.witness ORDER BY c.size DESC LIMIT 1) last ON true
      ORDER BY wanted.number`;
    return (await db.query<LastCosigned>(text, [witnesses])).rows;
  },
});

export const auditTree = (db: SqlPool): AuditTree => ({
  find: () => find(db),
  begin: async ({ origin, storeId, root }) => {
    const text = 'INSERT INTO audit.tree (origin, store_id, root) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
    await db.query(text, [origin, storeId, root]);
    return (await find(db)) as StoredTree;
  },
  grow: (from, to, full) =>
    db.transaction(async (tx) => {
      await tx.query(DURABLY);
      const values = [from.size, from.root, to.size, to.root, to.position];
      if ((await tx.query({ ...GROW, values })).rowCount !== 1) return false;
      await addTiles(tx, full);
      return true;
    }),
  setStopped: async (reason) => {
    const text = `UPDATE audit.tree SET stopped = $1, stopped_at = CASE WHEN $1 IS NOT NULL THEN now() END
      WHERE stopped IS DISTINCT FROM $1`;
    return (await db.query(text, [reason])).rowCount > 0;
  },
  sign: async ({ size, note }, root) => (await db.query({ ...SIGN, values: [size, note, root] })).rowCount === 1,
  ...tiles(db),
  ...checkpoints(db),
});
