// What a process knows of parked streams without a query: from the rows at its start, from notices, and from later looks.

import { expect } from 'chai';
import type { Sql } from '../../../application/ports/sql.ts';
import type { AccountId, PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { ParkedSet } from '../../../infrastructure/subscriptions/parkedSet.ts';
import type { ParkedStream } from '../../../projections/engine/parkedStreams.ts';

const OWN = { accountId: 'own' as AccountId, mode: 'test' as const };
const stream = PAYMENT.stream('x' as PaymentId);
const row = (over: Partial<ParkedStream> = {}): ParkedStream => ({
  consumer: 'payments',
  stream,
  account: OWN.accountId,
  mode: 'test',
  revision: 3,
  eventId: 'e',
  eventType: 'T',
  error: 'MalformedEvent: no',
  ...over,
});

describe('the set of parked streams', () => {
  let rows: readonly ParkedStream[];
  let looks: number;
  /** Called in the middle of each look. */
  let meanwhile: () => void;
  let told: string[];
  let notify: (payload: string) => void;
  let set: ParkedSet;

  const open = async () => {
    const db: Sql = {
      query: async <Row>() => {
        looks++;
        const found = [...rows];
        meanwhile();
        return { rows: found as Row[], rowCount: found.length };
      },
    };
    set = new ParkedSet({
      db,
      onFound: (streams) => told.push(`found ${streams}`),
      onParked: (one) => told.push(`${one.consumer} ${one.stream}@${one.revision}`),
      onChange: () => told.push('change'),
      onError: (error) => told.push(error.message),
      lookMs: 3_600_000,
    });
    const notices = {
      on: async (channel: string, listener: typeof notify) => {
        expect(channel).to.equal('quita_parked');
        notify = listener;
      },
    } as unknown as NotificationListener;
    await set.follow(notices);
  };
  beforeEach(() => {
    [rows, looks, told, meanwhile] = [[], 0, [], () => undefined];
  });
  afterEach(() => set.stop());
  const has = () => set.has('payments', stream, OWN);

  it('contains the streams parked before its start, and reports their number', async () => {
    rows = [row(), row({ consumer: 'wallet' })];
    await open();
    expect([has(), set.hasAnyOf('wallet', OWN), set.streams, set.countOf('payments')]).to.deep.equal([
      true,
      true,
      1,
      1,
    ]);
    expect(told).to.deep.equal(['found 1']);
  });

  it('adds streams from notices at once, and reports each parking once', async () => {
    await open();
    expect(has()).to.equal(false);
    set.parked([row()]); // this process leads
    notify(JSON.stringify({ parked: [row()] })); // and receives its own notice
    expect([has(), told]).to.deep.equal([true, [`payments ${stream}@3`]]);
    notify(JSON.stringify({ parked: [row({ revision: 5 })] }));
    expect(told).to.deep.equal([`payments ${stream}@3`, `payments ${stream}@5`]);
    notify(JSON.stringify({ taken: [{ consumer: 'payments', stream }] }));
    notify(JSON.stringify({ taken: [{ consumer: 'payments', stream }] }));
    expect([has(), set.streams, looks]).to.deep.equal([false, 0, 1]);
  });

  it('looks again after a notice without details, or one that may have been missed', async () => {
    await open();
    rows = [row()];
    for (const payload of ['', '{bad']) notify(payload);
    await set.look();
    expect([has(), told.toSorted()]).to.deep.equal([true, ['change', 'change', `payments ${stream}@3`]]);
    rows = [];
    await set.look();
    expect(has()).to.equal(false);
  });

  it('keeps changes that arrive during a look', async () => {
    await open();
    let times = 0;
    meanwhile = () => {
      if (times++ > 0) return;
      rows = [row()];
      set.parked([row()]);
    };
    await set.look();
    expect([has(), times]).to.deep.equal([true, 2]);
    times = 0;
    meanwhile = () => {
      if (times++ > 0) return;
      rows = [];
      set.taken('payments', stream);
    };
    await set.look();
    expect(has()).to.equal(false);
  });

  it('finds a stream only for its own account and mode; without a tenant, the ID is enough', async () => {
    rows = [row()];
    await open();
    const asked = [OWN, { ...OWN, mode: 'live' as const }, { ...OWN, accountId: 'other' as AccountId }, null];
    expect(asked.map((tenant) => set.has('payments', stream, tenant))).to.deep.equal([true, false, false, true]);
    expect(asked.map((tenant) => tenant && set.hasAnyOf('payments', tenant))).to.deep.equal([true, false, false, null]);
    expect(set.has('wallet', stream, OWN)).to.equal(false);
    rows = [row({ account: null, mode: null })]; // the owner is unknown, so anyone who knows the ID may be the owner
    await set.look();
    expect(asked.map((tenant) => set.has('payments', stream, tenant))).to.deep.equal([true, true, true, true]);
    expect(set.hasAnyOf('payments', OWN)).to.equal(false);
  });
});
