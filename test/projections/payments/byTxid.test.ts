// Queries for reconciliation: which payments have these txids.

import { expect } from 'chai';
import type { AccountId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { findPaymentsByTxid } from '../../../projections/payments/queries.ts';
import { created, failed, issued } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { logged, PaymentTables, type Step } from './paymentTables.ts';

const TENANT: Tenant = { accountId: 'acct' as AccountId, mode: 'test' };
const LIVE: Tenant = { ...TENANT, mode: 'live' };
const OTHER: Tenant = { ...TENANT, accountId: 'other' as AccountId };
const txidOf = (name: string): string => name.padStart(32, '0');
const idOf = (name: string): PaymentId => `payment-${name}` as PaymentId;

describe('payments by txid', () => {
  let tables: PaymentTables;
  before(async () => {
    tables = await PaymentTables.open();
  });
  after(() => tables.close());

  /** Writes one payment per name, in one batch. `over` changes their terms. */
  const write = async (of: Tenant, names: readonly string[], over: Parameters<typeof created>[0] = {}) => {
    const steps = names.flatMap((name): Step[] => {
      const [paymentId, txid] = [idOf(name), txidOf(name)];
      const event = created({ ...of, paymentId, txid, ...over });
      return [
        { paymentId, revision: 0, event },
        { paymentId, revision: 1, event: issued({ txid }) },
      ];
    });
    await tables.db.transaction((tx) => writer.apply(logged(of, steps), tx));
  };
  let writer: Awaited<ReturnType<PaymentTables['fresh']>>;
  beforeEach(async () => {
    writer = await tables.fresh();
  });
  const find = async (of: Tenant, ...names: readonly string[]) =>
    [...(await findPaymentsByTxid(tables.db, of, names.map(txidOf)))].toSorted();

  it('finds each known txid and omits unknown ones', async () => {
    await write(TENANT, ['a', 'b', 'c']);
    const found = ['a', 'c'].map((name) => [txidOf(name), idOf(name)]);
    expect(await find(TENANT, 'c', 'x', 'a')).to.deep.equal(found);
    expect(await find(TENANT, 'x')).to.deep.equal([]);
    expect(await find(TENANT)).to.deep.equal([]);
  });
  it('finds a payment that failed before an instrument was issued', async () => {
    const event = created({ ...TENANT, paymentId: idOf('a'), txid: txidOf('a') });
    const steps = [event, failed()].map((one, revision) => ({ paymentId: idOf('a'), revision, event: one }));
    await tables.db.transaction((tx) => writer.apply(logged(TENANT, steps), tx));
    expect(await find(TENANT, 'a')).to.deep.equal([[txidOf('a'), idOf('a')]]);
  });
  it('finds only payments of the tenant', async () => {
    await write(TENANT, ['a']);
    await write(LIVE, ['b']);
    await write(OTHER, ['c']);
    expect(await find(TENANT, 'a', 'b', 'c')).to.deep.equal([[txidOf('a'), idOf('a')]]);
    expect(await find(LIVE, 'a', 'b', 'c')).to.deep.equal([[txidOf('b'), idOf('b')]]);
    expect(await find(OTHER, 'a', 'b', 'c')).to.deep.equal([[txidOf('c'), idOf('c')]]);
  });
  it('ignores metadata that contain a txid or text that PostgreSQL’s JSON functions can’t read', async () => {
    const text = `"txid":"${txidOf('x')}"`;
    const misleading = { txid: txidOf('x'), deeper: [{ txid: txidOf('a') }], text, odd: '\u0000 \ud800 "' };
    await write(TENANT, ['b'], { metadata: misleading });
    await write(TENANT, ['a']);
    const found = ['a', 'b'].map((name) => [txidOf(name), idOf(name)]);
    expect(await find(TENANT, 'a', 'b', 'x')).to.deep.equal(found);
  });
  it('finds payments of several batches and dates', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await write(TENANT, names.slice(0, 3));
    await write(TENANT, names.slice(3), { createdAt: parseTimestamp('2020-01-01T00:00:00.000Z') });
    const every = names.map((name) => [txidOf(name), idOf(name)]);
    expect(await find(TENANT, ...names)).to.deep.equal(every);
    expect(await find(TENANT, ...names, 'x')).to.deep.equal(every);
  });
  it('accepts 20,001 txids at once', async () => {
    await write(TENANT, ['a', 'b']);
    const names = Array.from({ length: 20_000 }, (_, n) => `n${n}`);
    expect(await find(TENANT, ...names, 'b')).to.deep.equal([[txidOf('b'), idOf('b')]]);
  });
});
