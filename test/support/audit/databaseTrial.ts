// Trials of the tampering law in the database: the log is changed without the program’s knowledge, exported, and verified.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { verifyLog } from '../../../application/audit/verifyLog.ts';
import { loseFacts } from '../lostFacts.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../postgresEventLog.ts';
import { DATABASE_TAMPERINGS } from './databaseTamperings.ts';
import { SealedLog } from './sealedLog.ts';
import { type LogKey, logKeyOf } from './syntheticExport.ts';
import { DRAWS, drawFrom, placeOf } from './tamperingTrial.ts';
import type { Verify } from './verifiers.ts';

const KEY = logKeyOf('the log');
const ENTRIES = 600;
const CHECKPOINTS = [100, 300, 520, ENTRIES];

/**
 * Returns whether a fault starts at the entry. The last tile is incomplete and therefore not stored. There, a fault may start at the tile
 * or after the last good checkpoint.
 */
const isNamed = (faults: readonly string[], [from, to]: readonly [number, number]): boolean => {
  const tile = from - (from % 256);
  const signed = Math.max(0, ...CHECKPOINTS.filter((size) => size <= from));
  const earliest = tile + 256 <= ENTRIES ? from : Math.min(tile, signed);
  return faults.some((fault) => {
    const place = placeOf(fault);
    return place !== null && place[0] >= earliest && place[0] <= to;
  });
};

const NOW = { signal: new AbortController().signal, onEntries: () => undefined };

/** Opens a log of 600 entries with several checkpoints, and copies its events to a table. */
const openGenuine = async (database: PostgresEventLog): Promise<void> => {
  const log = new SealedLog(database.connectionString, await database.connect(), [KEY]);
  for (const [n, size] of CHECKPOINTS.entries()) {
    await log.append((size - (await log.size())) / 4, 4, false);
    await log.seal(size);
    await log.query("UPDATE audit.checkpoints SET signed_at = now() - $1 * interval '1 hour' WHERE size = $2", [
      10 - n,
      size,
    ]);
  }
  await log.query('CREATE TABLE public.genuine AS SELECT * FROM event_store.events');
  await log.close();
};

const restore = async ({ sql }: PostgresEventLog): Promise<void> => {
  await loseFacts(sql, 'DELETE FROM event_store.events');
  await loseFacts(sql, 'INSERT INTO event_store.events SELECT * FROM public.genuine');
};

const faultsOfLog = async (log: SealedLog): Promise<readonly string[]> =>
  (await verifyLog(log.needs)(NOW)).faults.map(({ from, to, what }) => `entries ${from} to ${to}: ${what}`);

/** Tampers with the database `trials` times. The verifiers of exports and `audit verify` must find and name each change. */
export const expectDatabaseTamperingsFound = async (verifiers: readonly Verify[], trials: number): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'quita-tampered-'));
  const database = await createPostgresEventLog();
  const trust = { keys: [KEY.vkey], checkpoints: [] };
  const examine = async (folder: string, keys: readonly LogKey[]) => {
    // A new process, whose cache is empty.
    const store = await database.connect();
    const log = new SealedLog(database.connectionString, store, keys);
    try {
      await log.export(folder);
      const found = await Promise.all(verifiers.map((verify) => verify(folder, trust)));
      return [...found, await faultsOfLog(log)];
    } finally {
      await log.close();
      await store.close();
    }
  };
  try {
    await openGenuine(database);
    expect(await examine(join(root, 'genuine'), [KEY])).to.deep.equal(Array(verifiers.length + 1).fill([]));
    const kinds = Object.entries(DATABASE_TAMPERINGS);
    let trial = 0;
    await fc.assert(
      fc.asyncProperty(DRAWS, async (numbers) => {
        const [what, tamper] = kinds[trial % kinds.length] as (typeof kinds)[number];
        const folder = join(root, String(trial++));
        const draw = drawFrom(numbers);
        const { at } = await tamper(database.sql, ENTRIES, draw);
        for (const faults of await examine(folder, [KEY]))
          expect(isNamed(faults, at), `${what} at ${at}: ${faults.slice(0, 5).join('; ')}`).to.equal(true);
        await restore(database);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: trials, endOnFailure: true },
    );
  } finally {
    await database.dispose();
    rmSync(root, { recursive: true, force: true });
  }
};
