// The runbook names every table and how long it keeps its rows, so that none grows without bound unnoticed.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { useDatabase } from '../../world/postgres.ts';

const RUNBOOK = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

/** Every table of the program, except read models, partitions, the tables of migrations, and the internal tables of the job queue. */
const TABLES = `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname IN (SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public|jobs|rm_)')
  ORDER BY 1`;

describe('the retention table of the runbook', () => {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });

  it('lists every table once, and no others', async () => {
    const section = /## What is kept, and for how long\n([\s\S]*?)\n## /.exec(RUNBOOK)?.[1] ?? '';
    const firstCells = section
      .split('\n')
      .flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []));
    const named = firstCells.flatMap((cell) => [...cell.matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name));
    const { rows } = await db.query<{ name: string }>(TABLES);
    expect(named.filter((name) => name !== 'jobs.job').toSorted()).to.deep.equal(rows.map(({ name }) => name));
  });
});
