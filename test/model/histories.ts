// Plays random histories of several merchants concurrently and verifies everything afterwards.
import { expect } from 'chai';
import fc from 'fast-check';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import type { TestGateway } from '../world/gateway.ts';
import { operation } from './operations.ts';
import { Player } from './player.ts';

interface Histories {
  readonly merchants: number;
  readonly operationsEach: number;
  readonly seed: number;
  /** Operations between two full checks. */
  readonly checkEvery: number;
}

/** Returns how often each kind of operation was played. Rejects with the seed and the step of the first difference. */
export const playHistories = async (
  gateway: TestGateway,
  { merchants, operationsEach, seed, checkEvery }: Histories,
): Promise<ReadonlyMap<string, number>> => {
  const length = { minLength: operationsEach, maxLength: operationsEach };
  const histories = fc.sample(fc.array(operation, { ...length, size: 'max' }), { numRuns: merchants, seed });
  const players = await Promise.all(
    histories.map(async (history, merchant) => {
      const player = await Player.open(gateway);
      for (const [step, one] of history.entries()) {
        try {
          await player.play(one);
          if (step % checkEvery === checkEvery - 1) await player.check();
        } catch (error) {
          const where = `seed ${seed}, merchant ${merchant}, step ${step}: ${JSON.stringify(one)}`;
          throw new Error(`${where}\n${(error as Error).message}`, { cause: error });
        }
      }
      await player.check();
      return player;
    }),
  );
  const played = new Map<string, number>();
  for (const player of players)
    for (const [kind, count] of player.played) played.set(kind, (played.get(kind) ?? 0) + count);
  return played;
};

/** Expects read models to equal a replay and the ledger to sum to zero. */
export const expectVerified = async ({ storage, gateway }: TestGateway): Promise<void> => {
  await gateway.projected.caughtUp(30_000);
  const { openSession, reads } = storage;
  expect((await verify(PROJECTIONS, storage, openSession)).differences).to.deep.equal([]);
  const { rows } = await reads.query('SELECT currency, sum(amount) AS sum FROM rm_wallet.postings GROUP BY currency');
  for (const row of rows as { sum: number }[]) expect(Number(row.sum)).to.equal(0);
};
