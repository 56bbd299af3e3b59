// The progress of the audit log's anchors, in PostgreSQL, and anchors that are files.
import { open } from 'node:fs/promises';
import type { AnchorState, AuditAnchors } from '../../application/ports/auditAccess.ts';
import { KeyedTurns } from '../../application/ports/keyedTurns.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import { withTimeout } from '../waiting.ts';

/** Longest stored error, in characters. */
const ERROR_LENGTH_MAX = 300;

/** Some hundred checkpoints. The file grows for years, so only its end is read. */
const END_BYTES = 64 * 1_024;

const readEnd = async (path: string): Promise<string> => {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, END_BYTES));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

const appendTo = async (path: string, note: string): Promise<void> => {
  const file = await open(path, 'a');
  try {
    await file.appendFile(note);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** A network disk that is gone never answers. */
const FILE_MS = 10_000;

/**
 * Returns a function that works on a file, after earlier work on the same file, and throws after `limitMs`. Each file that doesn't answer
 * thus blocks only one of the few threads of this process.
 */
const limitedWork = (limitMs: number) => {
  const turns = new KeyedTurns(1);
  return <T>(path: string, work: () => Promise<T>): Promise<T> => {
    let isLate = false;
    const done = turns.run(path, async () => {
      if (isLate) throw new Error('given up');
      return work();
    });
    done.catch(() => undefined); // after the limit, nothing else awaits it
    return withTimeout(done, limitMs, () => {
      isLate = true;
      return new Error(`${path} did not answer within ${limitMs / 1_000} s`);
    });
  };
};

const fileAnchors = (limitMs: number): Pick<AuditAnchors, 'append' | 'endOf'> => {
  const within = limitedWork(limitMs);
  return {
    append: (path, note) => within(path, () => appendTo(path, note)),
    endOf: (path) => within(path, () => readEnd(path)).catch(() => null),
  };
};

export const auditAnchors = (db: Sql, limitMs = FILE_MS): AuditAnchors => ({
  ...fileAnchors(limitMs),
  states: async (anchors) => {
    const text = `SELECT wanted.anchor, coalesce(a.size, 0) AS size, coalesce(a.failures, 0) AS failures, a.error,
        ${asTimestamp('a.sent_at')} AS "sentAt", ${asTimestamp('a.retry_at')} AS "retryAt"
      FROM unnest($1::text[]) WITH ORDINALITY wanted(anchor, number) LEFT JOIN audit.anchors a USING (anchor)
      ORDER BY wanted.number`;
    return (await db.query<AnchorState>(text, [anchors])).rows;
  },
  received: async (anchor, size) => {
    await db.query(
      `INSERT INTO audit.anchors AS a (anchor, size, sent_at) VALUES ($1, $2, now())
       ON CONFLICT (anchor) DO UPDATE SET size = greatest(a.size, excluded.size), sent_at = now(), retry_at = NULL,
         failures = 0, error = NULL`,
      [anchor, size],
    );
  },
  failed: async (anchor, error, retryAt) => {
    await db.query(
      `INSERT INTO audit.anchors AS a (anchor, failures, error, retry_at) VALUES ($1, 1, $2, $3)
       ON CONFLICT (anchor) DO UPDATE SET failures = a.failures + 1, error = excluded.error, retry_at = excluded.retry_at`,
      [anchor, error.slice(0, ERROR_LENGTH_MAX), retryAt],
    );
  },
});
