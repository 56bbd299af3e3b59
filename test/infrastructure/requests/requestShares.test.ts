// Shares of minutes in Postgres, and processes that limit requests with them.
import { expect } from 'chai';
import type { ShareRequest, TakeShares } from '../../../application/ports/requestShares.ts';
import { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { requestMinutes, requestShares } from '../../../infrastructure/requests/requestShares.ts';
import { useDatabase } from '../../world/postgres.ts';

describe('shares of minutes', () => {
  let pool: PgPool;
  let take: TakeShares;
  let tests = 0;
  /** A different name in each test. */
  let name: string;
  useDatabase('suite', 4, (opened) => {
    pool = opened;
  });
  before(async () => {
    take = requestShares(pool);
  });
  beforeEach(() => {
    tests += 1;
    name = `key:${tests}`;
  });

  const ask = (of: Partial<ShareRequest> = {}): ShareRequest => ({
    name,
    perMinute: 100,
    began: null,
    owed: 0,
    waiting: 0,
    ahead: 0,
    ...of,
  });
  const one = async (of: Partial<ShareRequest> = {}) => (await take([ask(of)])).get(name);
  const numbers = async (of: Partial<ShareRequest> = {}) => {
    const grant = await one(of);
    return grant === undefined ? null : [grant.granted, grant.taken];
  };
  /** Makes the minute begin this many seconds earlier. */
  const age = (seconds: number) =>
    pool.query("UPDATE operations.request_minutes SET began_at = began_at - $2 * interval '1 s' WHERE name = $1", [
      name,
      seconds,
    ]);

  it('waiting requests come first, then a quarter of the rest, and never more than the limit', async () => {
    expect(await numbers({ waiting: 4, ahead: 10 })).to.deep.equal([14, 14]);
    expect(await numbers({ waiting: 6, ahead: 1_000 })).to.deep.equal([6 + 22, 42]); // a quarter of 86, rounded up
    expect(await numbers({ waiting: 1_000, ahead: 1_000 })).to.deep.equal([58, 100]);
    expect(await numbers({ waiting: 1, ahead: 1 })).to.deep.equal([0, 100]);
  });
  it('requests admitted without a share count even above the limit; a changed limit applies at once', async () => {
    expect(await numbers({ owed: 120, waiting: 5 })).to.deep.equal([120, 120]);
    expect(await numbers({ waiting: 1 })).to.deep.equal([0, 120]);
    expect(await numbers({ waiting: 1, perMinute: 130 })).to.deep.equal([1, 121]);
  });
  it('returned shares are available to others', async () => {
    const first = await one({ waiting: 100 });
    expect(await numbers({ began: first?.began ?? 0, owed: -30 })).to.deep.equal([-30, 70]);
    expect(await numbers({ waiting: 50 })).to.deep.equal([30, 100]);
  });
  it('a minute begins with its first request; a request for an expired one gets nothing and begins none', async () => {
    const first = await one({ waiting: 100 });
    expect(first?.leftMs).to.be.within(50_000, 60_000);
    await age(45);
    expect((await one({ waiting: 1 }))?.leftMs).to.be.within(0, 15_000);
    await age(15);
    expect(await one({ began: first?.began ?? 0, owed: -5 })).to.equal(undefined);
    expect(await one({ began: first?.began ?? 0, owed: 70, waiting: 1 })).to.equal(undefined);
    const next = await one({ waiting: 1 });
    expect([next?.granted, next?.taken]).to.deep.equal([1, 1]);
    expect(await one({ began: first?.began ?? 0, waiting: 1 })).to.equal(undefined);
    expect(await numbers({ began: next?.began ?? 0, waiting: 1 })).to.deep.equal([1, 2]);
    expect(await one({ name: 'nobody', began: 5, waiting: 1 })).to.equal(undefined);
  });
  it('only minutes that ended long ago are deleted', async () => {
    await one({ waiting: 1 });
    await age(540);
    await requestMinutes(pool).forgetOldMinutes();
    expect(await numbers({ began: 1 })).to.equal(null);
    const rows = () => pool.query('SELECT FROM operations.request_minutes WHERE name = $1', [name]);
    expect((await rows()).rowCount).to.equal(1);
    await age(100);
    await requestMinutes(pool).forgetOldMinutes();
    expect((await rows()).rowCount).to.equal(0);
  });
  it('concurrent batches of many names in any order cause no deadlock', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `${name} ${i}`);
    const batches = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? names : [...names].reverse()));
    await Promise.all(batches.map((batch) => take(batch.map((of) => ask({ name: of, waiting: 1 })))));
    const all = await take(names.map((of) => ask({ name: of })));
    expect([...all.values()].map(({ taken }) => taken)).to.deep.equal(names.map(() => 40));
  });

  /** Runs this many processes at once, while no time passes. Returns the number of admitted requests and of statements. */
  const load = async (processes: number, perMinute: number, credit: number, requestsOfEach: number) => {
    let statements = 0;
    const counted: TakeShares = (requests) => {
      statements += 1;
      return take(requests);
    };
    const all = Array.from(
      { length: processes },
      () => new MinuteWindows({ remembered: 10, takeShares: counted, now: () => 0 }),
    );
    const oneProcess = async (windows: MinuteWindows) => {
      let accepted = 0;
      // 16 connections per process.
      const connection = async () => {
        for (let i = 0; i < requestsOfEach / 16; i++)
          if ((await windows.count(name, { perMinute, credit })).isIn) accepted += 1;
      };
      await Promise.all(Array.from({ length: 16 }, connection));
      return accepted;
    };
    const accepted = (await Promise.all(all.map(oneProcess))).reduce((sum, one) => sum + one, 0);
    for (const windows of all) windows.close();
    return { accepted, statements };
  };
  it('ten processes together admit 20 requests at a limit of 20 a minute, not 200', async () => {
    expect((await load(10, 20, 0, 160)).accepted).to.equal(20);
  });
  for (const processes of [1, 2, 10])
    it(`${processes} processes admit 6,000 requests a minute, plus at most the credit of each`, async () => {
      const { accepted, statements } = await load(processes, 6_000, 20, 16_000);
      expect(accepted).to.be.within(6_000, 6_000 + processes * 20);
      expect(statements).to.be.below(6_000 / 10);
    });
});
