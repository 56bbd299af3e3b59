// A read right after a write that another process answered (architecture §6): found, or 503, never 404.
import { expect } from 'chai';
import pg from 'pg';
import { newKey, startedDatabase, TestGateway } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

const MISSING = `ch_${'0'.repeat(26)}`;

describe('a read of an object that another process just wrote', () => {
  let database: TestDatabase;
  let one: TestGateway;
  let other: TestGateway;
  /** Holds the rows of payments back until it ends its transaction. */
  let holder: pg.Client;
  /** Called when the other process asks the log for its head. */
  let onAsked: () => Promise<unknown>;
  let asked: number;

  before(async () => {
    database = await startedDatabase();
    one = await openReady({ database });
    other = await TestGateway.open({
      database,
      isAlone: false,
      roles: { serves: true, projects: false, works: false },
    });
    holder = new pg.Client({ connectionString: database.connectionString });
    await holder.connect();
    // The other process hears of no new event: it knows only what it asks for.
    const { projected } = other.gateway;
    const { store } = other.storage;
    const [sawHead, head] = [projected.sawHead.bind(projected), store.head.bind(store)];
    projected.sawHead = () => undefined;
    store.head = async () => {
      const newest = await head();
      asked += 1;
      if (newest !== null) sawHead(newest);
      await onAsked();
      return newest;
    };
  });
  beforeEach(async () => {
    [asked, onAsked] = [0, async () => undefined];
    await holder.query('BEGIN; LOCK TABLE rm_payments.payments IN EXCLUSIVE MODE');
  });
  afterEach(() => holder.query('ROLLBACK'));
  after(async () => {
    await holder.end();
    for (const gateway of [other, one]) await gateway.close();
    await database.drop();
  });
  const created = async (): Promise<string> => {
    const idempotencyKey = newKey();
    const { status, body } = await one.post(
      '/v1/charges',
      { amount: 1_000, payment_method: 'pix' },
      { idempotencyKey },
    );
    expect(status).to.equal(201);
    return (body as { id: string }).id;
  };
  const read = (id: string) => other.get(`/v1/charges/${id}`, { key: one.tenant.testKey });

  it('finds it when the read model has followed', async () => {
    const id = await created();
    onAsked = () => holder.query('ROLLBACK');
    const { status, body } = await read(id);
    expect([status, (body as { id: string }).id, asked]).to.deep.equal([200, id, 1]);
    expect([(await read(id)).status, asked]).to.deep.equal([200, 1]);
  });

  it('fails with 503 while the read model lacks it', async () => {
    const id = await created();
    other.isPatient = false;
    expect([(await read(id)).status, asked]).to.deep.equal([503, 1]);
    other.isPatient = true;
  });

  it('doesn’t ask the log about any other refusal, or for a command', async () => {
    const { key } = { key: one.tenant.testKey };
    expect([(await other.get(`/v1/charges?starting_after=${MISSING}`, { key })).status, asked]).to.deep.equal([400, 0]);
    const cancelled = await other.post(`/v1/charges/${MISSING}/cancel`, undefined, { key });
    expect([cancelled.status, asked]).to.deep.equal([404, 0]);
  });

  it('returns 404 for an id that nobody wrote', async () => {
    await holder.query('ROLLBACK');
    expect([(await read(MISSING)).status, asked]).to.deep.equal([404, 1]);
  });
});
