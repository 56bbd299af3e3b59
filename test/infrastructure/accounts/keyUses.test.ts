import { expect } from 'chai';
import type { KeyId } from '../../../domain/kernel/ids.ts';
import { fromMillis, toMillis } from '../../../domain/kernel/time.ts';
import { keyUseReads, PostgresKeyUses } from '../../../infrastructure/accounts/keyUses.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { useDatabase } from '../../world/postgres.ts';

const [ONE, TWO, NEVER] = ['1', '2', '3'].map((end) => end.padStart(26, '0')) as [KeyId, KeyId, KeyId];
const NOON = toMillis(parseTimestamp('2026-11-21T12:00:00.000Z'));

describe('the last use of API keys', () => {
  let db: PgPool;
  let statements: number;
  const clock = { nowMs: NOON, now: () => clock.nowMs };
  const process = () =>
    new PostgresKeyUses({
      db: {
        query: (...args) => {
          statements++;
          return db.query(...args);
        },
      },
      clock,
      onError: (error) => {
        throw error;
      },
    });
  const lastUsed = async () => [...(await keyUseReads(db).lastUsed([ONE, TWO, NEVER]))].sort();

  useDatabase('suite', 2, (opened) => {
    db = opened;
  });
  beforeEach(async () => {
    await db.query('DELETE FROM operations.api_key_uses');
    [clock.nowMs, statements] = [NOON, 0];
  });

  it('is written in one statement for all keys, with the time of the latest use', async () => {
    const uses = process();
    uses.note(TWO);
    uses.note(ONE);
    clock.nowMs += 500;
    uses.note(TWO);
    await uses.write();
    await uses.write();
    expect([statements, await lastUsed()]).to.deep.equal([
      1,
      [
        [ONE, fromMillis(NOON)],
        [TWO, fromMillis(NOON + 500)],
      ],
    ]);
    await uses.close();
  });
  it('is written at most once a minute across all processes', async () => {
    const [one, two] = [process(), process()];
    const useBy = async (uses: PostgresKeyUses, afterMs: number) => {
      clock.nowMs = NOON + afterMs;
      uses.note(ONE);
      await uses.write();
      return (await lastUsed())[0]?.[1];
    };
    expect([
      await useBy(one, 0),
      await useBy(two, 59_999),
      await useBy(one, 60_000),
      await useBy(two, 60_001),
    ]).to.deep.equal([0, 0, 60_000, 60_000].map((ms) => fromMillis(NOON + ms)));
    await one.close();
    await two.close();
  });
  it('is written when the process stops', async () => {
    const uses = process();
    uses.note(ONE);
    await uses.close();
    expect(await lastUsed()).to.deep.equal([[ONE, fromMillis(NOON)]]);
  });
});
