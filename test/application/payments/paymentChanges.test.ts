// Waiting for payments: a waiting caller’s payment is read only when it changes.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { PaymentChanges } from '../../../application/payments/paymentChanges.ts';
import type { Watched } from '../../../application/ports/readModels/payments.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { systemStopwatch } from '../../../infrastructure/system/system.ts';
import { ACCOUNT_ID } from '../../support/samples.ts';

const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };
const LONG_MS = 60_000;

/** A read model of payments by id. Each payment is a plain text here. */
class ReadModel {
  readonly shown = new Map<string, string>();
  readonly listeners = new Set<() => void>();
  finds = 0;
  searches = 0;
  fails = false;
  readonly changes = new PaymentChanges(
    {
      stopwatch: systemStopwatch,
      onMove: (listener) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
    },
    {
      find: async (_, id) => {
        this.finds++;
        return (this.shown.get(id) ?? null) as ExistingPayment | null;
      },
      versions: async (watched: readonly Watched[]) => {
        this.searches++;
        if (this.fails) throw new Error('the database is away');
        return watched.map(({ paymentId }) => this.shown.get(paymentId ?? '') ?? '');
      },
    },
  );

  async move(id: string, shows: string): Promise<void> {
    this.shown.set(id, shows);
    for (const listener of this.listeners) listener();
    await this.settled();
  }

  /** Waits until everything caused by the last step has happened. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  }

  until(id: string, wanted: string, timeoutMs = LONG_MS): Promise<string | null> {
    const look = (payment: ExistingPayment) => ((payment as unknown) === wanted ? wanted : null);
    return this.changes.until(TENANT, id as PaymentId, timeoutMs, look);
  }
}

describe('waits for changes of payments', () => {
  let model: ReadModel;
  beforeEach(() => {
    model = new ReadModel();
  });

  it('cost two reads per caller and one search per change, however many callers wait', async () => {
    const ids = Array.from({ length: 32 }, (_, n) => `payment ${n}`);
    for (const id of ids) model.shown.set(id, 'open');
    const waits = ids.map((id) => model.until(id, 'paid'));
    await model.settled();
    for (const id of ids) await model.move(id, 'paid');
    expect(await Promise.all(waits)).to.deep.equal(ids.map(() => 'paid'));
    // The first search ran for the first caller, the second for all others.
    expect([model.finds, model.searches]).to.deep.equal([2 * ids.length, 2 + ids.length]);
  });

  it('end at once if the payment already has the wanted state, even while other callers wait', async () => {
    const other = model.until('other', 'paid');
    await model.move('own', 'paid');
    expect(await model.until('own', 'paid', 100)).to.equal('paid');
    await model.move('other', 'paid');
    expect(await other).to.equal('paid');
  });

  it('end at the timeout, however often the payment changes', async () => {
    const beganAt = performance.now();
    const waiting = model.until('own', 'paid', 100);
    for (let n = 0; performance.now() < beganAt + 90; n++) await model.move('own', `state ${n}`);
    expect(await waiting).to.equal(null);
    expect(performance.now() - beganAt).to.be.below(5_000);
  });

  it('notice changes even if notifications are missed or a search fails', async () => {
    model.fails = true;
    const waiting = model.until('own', 'paid');
    await model.move('own', 'begun');
    model.fails = false;
    model.shown.set('own', 'paid');
    expect(await waiting).to.equal('paid');
  });

  it('search only while a caller waits', async () => {
    expect(await model.until('own', 'paid', 1)).to.equal(null);
    await model.move('own', 'begun');
    const { searches } = model;
    await model.move('own', 'paid');
    expect([model.searches, model.listeners.size]).to.deep.equal([searches, 0]);
    expect(await model.until('own', 'paid')).to.equal('paid');
  });
});
