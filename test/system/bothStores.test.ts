// The same 500 random commands produce the same read models on both stores, byte for byte. Failures print the seed.

import { expect } from 'chai';
import type { Sql } from '../../application/ports/sql.ts';
import { toMillis } from '../../domain/kernel/time.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { parseTimestamp } from '../support/timestamp.ts';
import { TestGateway, untilServed } from '../world/gateway.ts';

const COMMANDS = 500;
const DAY_SECONDS = 86_400;
const LOCKED = '12345678909';
const SOMEBODY_ELSE = '99992222263';

interface Command {
  readonly path: (ids: readonly string[]) => string;
  readonly body: Record<string, unknown>;
  readonly key?: string;
  readonly creates: boolean;
}

/** mulberry32, a random number generator with a seed. */
const dice = (seed: number) => {
  let a = seed >>> 0;
  return (below: number): number => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
};

const commandsOf = (seed: number): readonly Command[] => {
  const roll = dice(seed);
  const create = (n: number): Command => {
    const lock = roll(3) === 0 ? { expected_payer_tax_id: LOCKED, customer: { name: 'Ana', document: LOCKED } } : {};
    const body = {
      amount: 100 + roll(90_000),
      payment_method: 'pix',
      expires_in: DAY_SECONDS,
      metadata: { n },
      ...lock,
    };
    return { path: () => '/v1/charges', body, key: `random-${roll(4) === 0 ? roll(n + 1) : n}-key`, creates: true };
  };
  const pay = (n: number): Command => {
    const which = roll(1_000);
    const wrong = [
      {},
      {},
      {},
      { amount: 7 },
      { late: true },
      { payer: { document: null } },
      { payer: { document: SOMEBODY_ELSE } },
    ];
    const endToEndId = `E99999004202611210000${String(roll(20) === 0 ? 0 : n).padStart(11, '0')}`;
    const path = (ids: readonly string[]) => `/v1/sandbox/charges/${ids[which % ids.length]}/pay`;
    return { path, body: { end_to_end_id: endToEndId, ...wrong[roll(wrong.length)] }, creates: false };
  };
  const advance = (): Command => {
    const seconds = roll(6) === 0 ? DAY_SECONDS : 1 + roll(3_600);
    return { path: () => '/v1/sandbox/clock/advance', body: { seconds }, creates: false };
  };
  return Array.from({ length: COMMANDS }, (_, n) => {
    const kind = n === 0 ? 0 : roll(20);
    return kind < 9 ? create(n) : kind < 19 ? pay(n) : advance();
  });
};

/** Returns the answers and tables. They need no normalization, because clock and ids are fixed. */
const play = async (commands: readonly Command[], eventStoreUrl: string | null) => {
  const time = { nowMs: toMillis(parseTimestamp('2026-11-21T12:00:00.000Z')) };
  const test = await TestGateway.open({
    clock: { now: () => time.nowMs },
    publicUrl: 'https://pay.example.com',
    tenantSeed: 'both stores',
    ...(eventStoreUrl !== null && { eventStoreUrl }),
  });
  try {
    const ids: string[] = [];
    const answers: string[] = [];
    for (const { path, body, key, creates } of commands) {
      const ask = () => test.post<{ id: string }>(path(ids), body, key === undefined ? {} : { idempotencyKey: key });
      const reply = await untilServed(ask);
      const shown = reply.status < 300 ? reply.text : (reply.body as unknown as { error: { code: string } }).error.code;
      // On a loaded machine the answer can be 202 with the same body, before the clock’s work is done (X5).
      if (reply.status === 202) await test.gateway.services.whenClockDrained(test.tenant.accountId, 30_000);
      answers.push(`${reply.status === 202 ? 200 : reply.status} ${shown}`);
      if (creates && reply.status === 201) ids.push(reply.body.id);
      time.nowMs += 1_000;
    }
    await test.gateway.projected.caughtUp(30_000);
    expect(test.faults).to.deep.equal([]);
    return { answers, tables: await dump(test.storage.reads) };
  } finally {
    await test.close();
  }
};

const TABLES = [
  'rm_payments.payments',
  'rm_wallet.postings',
  'rm_wallet.balances',
  'rm_wallet.held_tranches',
  'rm_keyring.api_keys',
];
const dump = async (db: Sql): Promise<Record<string, readonly string[]>> => {
  const tables: Record<string, readonly string[]> = {};
  for (const table of TABLES) {
    const { rows } = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
    tables[table] = rows.map(({ row }) => row);
  }
  return tables;
};

describe('the same commands on both stores', function suite() {
  this.timeout(300_000);

  it(`give the same answers and byte-identical read models after ${COMMANDS} commands`, async () => {
    const seed = Date.now() % 1_000_000;
    const commands = commandsOf(seed);
    const server = await EventStoreDbServer.start();
    try {
      const [postgres, eventStoreDb] = await Promise.all([
        play(commands, null),
        play(commands, server.connectionString),
      ]);
      expect(eventStoreDb.answers, `seed ${seed}`).to.deep.equal(postgres.answers);
      expect(eventStoreDb.tables, `seed ${seed}`).to.deep.equal(postgres.tables);
      expect(postgres.tables['rm_payments.payments']?.length).to.be.above(50);
      expect(postgres.tables['rm_wallet.postings']?.length).to.be.above(50);
    } finally {
      await server.stop();
    }
  });
});
