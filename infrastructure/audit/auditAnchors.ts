// The progress of the audit log's anchors, in PostgreSQL, and anchors that are files.
import { open } from 'node:fs/promises';
import type { AnchorState, AuditAnchors } from '../../application/ports/auditAccess.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';

/** Longest stored error, in characters. */
const ERROR_LENGTH_MAX = 300;

/** Lines of a checkpoint with one signature, and more bytes than they have. */
const NOTE_LINES = 5;
const NOTE_BYTES_MAX = 4_096;

/** Reads only the end, because the file grows for years. */
const lastNoteIn = async (path: string): Promise<string> => {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, NOTE_BYTES_MAX));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return `${bytes.toString('utf8').trimEnd().split('\n').slice(-NOTE_LINES).join('\n')}\n`;
  } finally {
    await file.close();
  }
};

export const auditAnchors = (db: Sql): AuditAnchors => ({
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
  lastIn: (path) => lastNoteIn(path).catch(() => null),
  append: async (path, note) => {
    const file = await open(path, 'a');
    try {
      await file.appendFile(note);
      await file.sync();
    } finally {
      await file.close();
    }
  },
});
