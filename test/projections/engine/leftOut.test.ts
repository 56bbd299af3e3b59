// Events that a consumer does not take: parked streams from one event on, and single events that an operator skipped (architecture §6).

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { LeftOut, readableOf } from '../../../projections/engine/parking.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { ACCOUNT_ID, created, expired, issued, PAYMENT_ID, settled } from '../../support/samples.ts';

const STREAM = PAYMENT.stream(PAYMENT_ID);
const codec = testCodec();

const recorded = async (...events: readonly PaymentEvent[]): Promise<readonly RecordedEvent[]> => {
  const metadata = { account: ACCOUNT_ID, mode: 'test', actor: 'operator:test', requestId: null } as const;
  const encoded = await codec.encode({
    serde: PAYMENT.serde,
    stream: STREAM,
    after: -1,
    events,
    commandId: randomUUID(),
    metadata: { ...metadata, correlationId: 'x', causationId: 'x' },
  });
  return encoded.map((event, revision) => ({
    ...event,
    stream: STREAM,
    revision,
    position: String(revision + 1) as Position,
    recordedAt: '2026-11-21T13:00:00.000Z',
  }));
};

/** Returns, for a batch of four events, the revisions that are left and the previous revision where it is not the preceding number. */
const taken = async (prepare: (leftOut: LeftOut) => void) => {
  const leftOut = new LeftOut();
  prepare(leftOut);
  const batch = await recorded(created(), issued(), settled(), expired());
  const { events, poisoned } = readableOf(await codec.decode(batch), leftOut);
  expect(poisoned).to.deep.equal([]);
  return events.map(({ revision, previousRevision }) => [revision, previousRevision]);
};

describe('events left out of a batch', () => {
  it('are none if nothing is skipped or parked', async () =>
    expect(await taken(() => undefined)).to.deep.equal([
      [0, undefined],
      [1, undefined],
      [2, undefined],
      [3, undefined],
    ]));

  it('include a skipped event, and the next one follows the event before it', async () =>
    expect(await taken((leftOut) => leftOut.skip(STREAM, 1))).to.deep.equal([
      [0, undefined],
      [2, 0],
      [3, undefined],
    ]));

  it('include several consecutive skipped events', async () =>
    expect(
      await taken((leftOut) => {
        leftOut.skip(STREAM, 1);
        leftOut.skip(STREAM, 2);
      }),
    ).to.deep.equal([
      [0, undefined],
      [3, 0],
    ]));

  it('include a skipped first event, and the next one follows none', async () =>
    expect(await taken((leftOut) => leftOut.skip(STREAM, 0))).to.deep.equal([
      [1, -1],
      [2, undefined],
      [3, undefined],
    ]));

  it('include a parked stream from its first parked event on, until it is unparked', async () => {
    expect(await taken((leftOut) => leftOut.park(STREAM, 2))).to.deep.equal([
      [0, undefined],
      [1, undefined],
    ]);
    const again = await taken((leftOut) => {
      leftOut.park(STREAM, 2);
      leftOut.unpark(STREAM);
    });
    expect(again).to.have.length(4);
  });

  it('never include events of other streams', async () =>
    expect(await taken((leftOut) => leftOut.park('payment-other', 0))).to.have.length(4));
});
