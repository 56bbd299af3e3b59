// At the start, an unreadable log is rejected on both event stores (rule S4).

import { expect } from 'chai';
import type { EventStore, NewEvent } from '../../../application/ports/eventStore.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { outcomeOf } from '../../../infrastructure/cli/explain.ts';
import { assertReadable } from '../../../infrastructure/eventStore/readableLog.ts';
import { why } from '../../support/core.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { createPostgresEventLog } from '../../support/postgresEventLog.ts';
import { ACCOUNT_ID, created, PAYMENT_ID } from '../../support/samples.ts';
import { PATIENT, startWorld } from './eventStoreDb/support.ts';

interface Opened {
  readonly store: EventStore;
  close(): Promise<void>;
}
const STORES: Readonly<Record<string, () => Promise<Opened>>> = {
  Postgres: async () => {
    const log = await createPostgresEventLog();
    return { store: await log.connect(), close: () => log.dispose() };
  },
  EventStoreDB: async () => {
    const world = await startWorld({}, PATIENT);
    return { store: world.store, close: () => world.end() };
  },
};

for (const [name, open] of Object.entries(STORES))
  describe(`a log on ${name}`, () => {
    let opened: Opened;
    const codec = testCodec();
    const stream = PAYMENT.stream(PAYMENT_ID);
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    const append = async (change: (event: NewEvent) => Partial<NewEvent>, after = -1): Promise<void> => {
      const events = [created({ paymentId: PAYMENT_ID })];
      const encoded = await codec.encode({
        serde: PAYMENT.serde,
        stream,
        after,
        events,
        commandId: `c${after}`,
        metadata: why(ACCOUNT_ID),
      });
      const stored = encoded.map((event) => ({ ...event, ...change(event) }));
      expect((await opened.store.append(stream, after, stored)).ok).to.equal(true);
    };
    const refusal = () =>
      assertReadable({ store: opened.store, codec: testCodec() }).then(
        () => null,
        (error: Error) => outcomeOf(error, {}),
      );
    const says = (reason: string) => ({
      says: `the event store holds a log of another version: its first event can't be read (${reason}). Start the version that wrote it, or set EVENTSTORE_URL to an empty event store and DATABASE_URL to an empty database`,
      code: 2,
    });

    it('is accepted if it is empty', async () => expect(await refusal()).to.equal(null));
    it('is accepted if its first event has this version', async () => {
      await append(() => ({}));
      expect(await refusal()).to.equal(null);
    });
    it('is rejected in one line with exit code 2 if its first event has another version of its type', async () => {
      await append(({ metadata }) => ({ metadata: metadata.replace('{', '{"v":2,') }));
      expect(await refusal()).to.deep.equal(says('ChargeCreated: expected a version from 1 to 1, not 2'));
    });
    it('is rejected if its first event has a type that was renamed', async () => {
      await append(() => ({ type: 'TransactionReceiptRejected' }));
      expect(await refusal()).to.deep.equal(says('TransactionReceiptRejected: expected a known event type'));
    });
    it('is rejected if fields of its first event are missing', async () => {
      await append(({ data }) => ({ data: data.replace('"txid"', '"former"') }));
      expect(await refusal()).to.deep.equal(says('ChargeCreated.txid: expected a string'));
    });
    it('is accepted if only a later event is unreadable, which parks its stream', async () => {
      await append(() => ({}));
      await append(() => ({ type: 'ChargeMelted' }), 0);
      expect(await refusal()).to.equal(null);
    });
  });
