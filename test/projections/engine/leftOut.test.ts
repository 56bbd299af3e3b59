// What a consumer does not take: parked streams from an event on, and single events that an operator had skipped (architecture §6).

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

/** The revisions that a batch of four comes to, each with the one that it is said to follow, where that is not the one before. */
const taken = async (prepare: (leftOut: LeftOut) => void) => {
  const leftOut = new LeftOut();
  prepare(leftOut);
  const batch = await recorded(created(), issued(), settled(), expired());
  const { events, poisoned } = readableOf(await codec.decode(batch), leftOut);
  expect(poisoned).to.deep.equal([]);
  return events.map(({ revision, previousRevision }) => [revision, previousRevision]);
};

describe('what is left out of a batch', () => {
  it('is nothing where nothing is skipped or parked', async () =>
    expect(await taken(() => undefined)).to.deep.equal([
      [0, undefined],
      [1, undefined],
      [2, undefined],
      [3, undefined],
    ]));

  it('is an event that an operator had skipped: the next one follows the one before it', async () =>
    expect(await taken((leftOut) => leftOut.skip(STREAM, 1))).to.deep.equal([
      [0, undefined],
      [2, 0],
      [3, undefined],
    ]));

  it('are several that were skipped one behind the other', async () =>
    expect(
      await taken((leftOut) => {
        leftOut.skip(STREAM, 1);
        leftOut.skip(STREAM, 2);
      }),
    ).to.deep.equal([
      [0, undefined],
      [3, 0],
    ]));

  it('is the first event of a stream: the next one follows none', async () =>
    expect(await taken((leftOut) => leftOut.skip(STREAM, 0))).to.deep.equal([
      [1, -1],
      [2, undefined],
      [3, undefined],
    ]));

  it('is a parked stream from its event on, and nothing any more when it was taken up again', async () => {
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

  it('are other streams’ events never', async () =>
    expect(await taken((leftOut) => leftOut.park('payment-other', 0))).to.have.length(4));
});
