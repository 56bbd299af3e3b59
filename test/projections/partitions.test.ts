// Read models whose rows belong to accounts: writers of some accounts each produce together the same rows as one writer of all, in any
// order. The second part checks this in a running gateway whose consumers are divided under load (ADR 0021).
import { expect } from 'chai';
import fc from 'fast-check';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { consumerWork } from '../../infrastructure/subscriptions/consumerWork.ts';
import { readPositions } from '../../projections/engine/checkpoints.ts';
import { isOfPart, partsOf } from '../../projections/engine/partitions.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { rebuild } from '../../projections/engine/rebuild.ts';
import { createSchema, dropSchema } from '../../projections/engine/schemaVersions.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { TestGateway } from '../world/gateway.ts';
import { Receiver } from '../world/receiver.ts';

const DIVISIBLE: readonly Projection[] = (PROJECTIONS as readonly Projection[]).filter(
  ({ isByAccount }) => isByAccount,
);
const [PAYMENTS] = DIVISIBLE as readonly [Projection];
const TENANTS = 5;

describe('read models by account', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let keys: readonly string[];

  before(async () => {
    gateway = await TestGateway.open();
    receiver = await Receiver.open((hit, res) => {
      res.statusCode = hit.body['type'] === 'charge.paid' ? 500 : 200;
      res.end();
    });
    const others = await Promise.all(Array.from({ length: TENANTS - 1 }, () => gateway.newTenant()));
    keys = [gateway.tenant, ...others].map(({ testKey }) => testKey);
    await Promise.all(keys.map((key) => register(key)));
    await Promise.all(keys.map((key) => trade(key)));
    await gateway.untilProjected();
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });

  const register = async (key: string): Promise<void> => {
    const endpoint = { url: receiver.url, events: ['*'] };
    expect((await gateway.post('/v1/webhooks/endpoints', endpoint, { key })).status).to.equal(201);
  };
  /** Makes charges that are left open, paid, paid with a wrong amount, refunded and disputed. */
  const trade = async (key: string): Promise<void> => {
    for (const what of ['left', 'paid', 'wrong', 'refunded', 'disputed']) {
      const { body } = await gateway.charge<{ id: string }>({}, { key });
      const ask = async (path: string, of: object = {}) => {
        const reply = await gateway.post(path, of, { key });
        expect(reply.status, reply.text).to.be.below(300);
      };
      if (what === 'left') continue;
      await ask(`/v1/sandbox/charges/${body.id}/pay`, what === 'wrong' ? { amount: 1 } : {});
      if (what === 'refunded') await ask(`/v1/payments/${body.id.slice(3)}/refund`, { idempotencyKey: body.id });
      if (what === 'disputed') await ask(`/v1/sandbox/charges/${body.id}/med`);
    }
  };

  const history = async (): Promise<readonly LoggedEvent[]> => {
    const events: LoggedEvent[] = [];
    const { store, codec } = gateway.storage;
    const stop = new AbortController();
    for await (const batch of store.subscribe({ after: null, categories: null, signal: stop.signal })) {
      if (batch.kind === 'caughtUp') break;
      if (batch.kind === 'events') events.push(...((await codec.decode(batch.events)) as readonly LoggedEvent[]));
    }
    stop.abort();
    return events;
  };
  const rowsIn = async (schema: string, { tables }: Projection) => {
    const found: Record<string, unknown> = {};
    for (const { name, counts = 'true' } of tables) {
      const text = `SELECT t::text AS row FROM ${schema}.${name} t WHERE ${counts} ORDER BY 1`;
      found[name] = (await gateway.storage.reads.query<{ row: string }>(text)).rows.map(({ row }) => row);
    }
    return found;
  };

  it('are the busy ones', () => {
    expect(DIVISIBLE.map(({ name }) => name)).to.deep.equal([
      ...[
        'payments',
        'refunds',
        'payouts',
        'disputes',
        'dailyBalances',
        'webhookEndpoints',
        'webhookDeliveries',
        'keyring',
      ],
    ]);
  });

  for (const projection of DIVISIBLE)
    it(`have the same rows in any number of partitions at any relative speed: ${projection.name}`, async () => {
      const { derived } = gateway.storage;
      const events = (await history()).filter(({ category }) => projection.categories.includes(category));
      /** Applies the events in partitions. `turns` gives the order in which the partitions advance. */
      const written = async (schema: string, count: number, turns: readonly number[], size: number) => {
        await createSchema(derived, projection, schema);
        const lanes = partsOf(count).map((part) => ({
          writer: projection.writer(schema),
          left: events.filter(({ stream }) => isOfPart(part, stream as StreamName)),
        }));
        const take = async ({ writer, left }: (typeof lanes)[number], most: number) => {
          const batch = left.splice(0, most);
          if (batch.length > 0) await derived.transaction((tx) => writer.apply(batch, tx));
        };
        for (const turn of turns) await take(lanes[turn % count] as (typeof lanes)[number], size);
        await Promise.all(lanes.map((lane) => take(lane, events.length))); // All partitions at the same time.
        const rows = await rowsIn(schema, projection);
        await dropSchema(derived, schema);
        return rows;
      };
      const whole = await written('of_one', 1, [], 1);
      expect(JSON.stringify(whole), 'some rows').to.not.equal('{}');
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(2, 4, 16, 64),
          fc.array(fc.nat(63), { maxLength: 30 }),
          fc.constantFrom(1, 7, 50),
          async (count, turns, size) => {
            expect(await written('of_many', count, turns, size)).to.deep.equal(whole);
          },
        ),
        { numRuns: 4 },
      );
    });

  it('stay correct while they and a process are divided, joined, rebuilt and verified under load', async () => {
    const { storage } = gateway;
    const work = consumerWork(storage, {
      names: ['payments', 'webhookDeliveries', 'process/webhookFanOut', 'users'],
      divisible: ['payments', 'webhookDeliveries', 'process/webhookFanOut'],
      maySkip: () => false,
    });
    const never = new AbortController().signal;
    let isOver = false;
    const trading = Promise.all(
      keys.slice(0, 2).map(async (key) => {
        while (!isOver) await trade(key);
      }),
    );
    const check = async (projections: readonly Projection[]) => {
      const { differences, parked } = await verify(projections, storage, storage.openSession);
      expect([differences, parked]).to.deep.equal([[], []]);
    };
    try {
      for (const count of [4, 2, 1]) {
        for (const name of work.divisible) expect(await work.divide(name, count, never), name).to.equal('even');
        const names = [...(await readPositions(storage.reads, ['payments'])).values()].flat().map(({ name }) => name);
        expect(names).to.have.length(count);
        if (count === 2) await rebuild([PAYMENTS], storage, storage.openSession);
        await check(DIVISIBLE.slice(0, 1));
      }
    } finally {
      isOver = true;
      await trading;
    }
    await gateway.untilProjected();
    await check(PROJECTIONS);
    await rebuild([PAYMENTS], storage, storage.openSession);
    // The bank may confirm a refund meanwhile, so the rows are compared with the log and not with earlier rows.
    await check(PROJECTIONS);
    const refusal = await work.divide('users', 2, never).catch((error: Error) => `${error.name}: ${error.message}`);
    expect(refusal).to.match(/^NotDivided: users can't be divided: .* These can: payments, /);
    expect(gateway.faults).to.deep.equal([]);
  });

  it('report their partitions, and the position that all of them have reached', async () => {
    const { reads, operations } = gateway.storage;
    const work = consumerWork(
      { reads, operations },
      { names: ['refunds'], divisible: ['refunds'], maySkip: () => false },
    );
    await work.divide('refunds', 2, new AbortController().signal);
    const head = await gateway.storage.store.head();
    const standing = (await work.standings()).get('refunds');
    expect(standing?.partitions.map(({ partition }) => partition)).to.deep.equal([0, 1]);
    await gateway.untilStored('refunds');
    expect(((await work.standings()).get('refunds')?.position ?? '') >= (head ?? '')).to.equal(true);
    await work.divide('refunds', 1, new AbortController().signal);
    expect((await work.standings()).get('refunds')?.partitions).to.deep.equal([]);
  });
});
