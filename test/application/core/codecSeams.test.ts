// The codec is replaceable: a codec that chains the events of each stream by hashes wraps the product’s codec, and commands,
// subscriptions and read models run on it unchanged.

import { hash } from 'node:crypto';
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { CommandHandler, StreamUnreadable } from '../../../application/core/commandHandler.ts';
import {
  type Decoded,
  type EventCodec,
  type EventsToEncode,
  readDecoded,
  UnreadableEvent,
} from '../../../application/ports/eventCodec.ts';
import {
  EMPTY_STREAM,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
} from '../../../application/ports/eventStore.ts';
import { ACCOUNT, openAccount } from '../../../domain/account/account.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import type { Json } from '../../../domain/kernel/json.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import { exists } from '../../../domain/payment/payment.ts';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig } from '../../../infrastructure/postgres/session.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { why } from '../../support/core.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';
import { ACCOUNT_ID, CREATED_AT, instrument, PAYMENT_ID, terms } from '../../support/samples.ts';

type Data = { [key: string]: Json };

/** Stores in each event’s metadata, under the reserved key, a hash over the event and the hash of the previous event in the stream. */
class ChainingCodec implements EventCodec {
  readonly #inner: EventCodec;
  readonly #store: EventStore;

  constructor(inner: EventCodec, store: EventStore) {
    this.#inner = inner;
    this.#store = store;
  }

  async encode(append: EventsToEncode): Promise<readonly NewEvent[]> {
    let link = await this.#linkAt(append.stream, append.after);
    return (await this.#inner.encode(append)).map((event) => {
      const metadata = JSON.parse(event.metadata) as Data;
      link = linkOf(link, event);
      return { ...event, metadata: JSON.stringify({ ...metadata, chain: link }) };
    });
  }

  async decode(recorded: readonly RecordedEvent[]): Promise<readonly Decoded[]> {
    const decoded = await this.#inner.decode(recorded);
    const links = new Map<StreamName, string>();
    return Promise.all(
      decoded.map(async (one, i) => {
        const event = recorded[i] as RecordedEvent;
        const before = links.get(event.stream) ?? (await this.#linkAt(event.stream, event.revision - 1));
        const { chain, ...metadata } = JSON.parse(event.metadata) as Data;
        const isWhole = chain === linkOf(before, { ...event, metadata: JSON.stringify(metadata) });
        return isWhole
          ? one
          : new UnreadableEvent(event, new Error('its hash does not follow from the event before it'));
      }),
    );
  }

  async #linkAt(stream: StreamName, revision: number): Promise<string> {
    if (revision === EMPTY_STREAM) return '';
    for await (const event of this.#store.readStream(stream, { from: revision }))
      return (JSON.parse(event.metadata) as { chain: string }).chain;
    throw new Error(`${stream} has no revision ${revision}`);
  }
}
const linkOf = (before: string, { id, type, data, metadata }: NewEvent): string =>
  hash('sha256', [before, id, type, data, metadata].join('\n'), 'base64url');

describe('a wrapping codec', () => {
  let database: PostgresEventLog;
  let store: EventStore;
  beforeEach(async () => {
    database = await createPostgresEventLog();
    store = await openPostgresEventStore({ connectionString: database.connectionString });
  });
  afterEach(async () => {
    await store.close();
    await database.dispose();
  });

  const stream = PAYMENT.stream(PAYMENT_ID);
  const customer = { name: 'MARIA DE TESTE', document: '99991111140', email: 'maria@example.com', phone: null };
  const handlerOf = (codec: EventCodec) =>
    new CommandHandler({ store, codec, randomness: systemRandomness, stopwatch: systemStopwatch });
  const createWith = async (codec: EventCodec): Promise<void> => {
    const commands = handlerOf(codec);
    const opening = { accountId: ACCOUNT_ID, name: 'Loja', email: 'a@b.co', idSeed: 'AA', at: CREATED_AT };
    await commands.execute(
      ACCOUNT,
      ACCOUNT.stream(ACCOUNT_ID),
      openAccount(opening, DECLARED_SETTINGS.settings),
      why(ACCOUNT_ID),
    );
    const decide = createCharge({
      terms: terms({ customer }),
      fingerprintUnder: () => 'hash',
      fingerprintVersion: 1,
      instrument: instrument(),
      keyParam: 'Idempotency-Key',
    });
    await commands.execute(PAYMENT, stream, decide, why(ACCOUNT_ID), { creates: true });
  };
  const customerAt = async (codec: EventCodec): Promise<unknown> => {
    const { state } = await handlerOf(codec).load(PAYMENT, stream);
    return exists(state) ? state.charge.terms.customer : null;
  };
  /** Returns the read model’s row of the only payment after a rebuild. */
  const rebuiltWith = async (codec: EventCodec): Promise<string> => {
    const openSession = leaderSessions(connectionConfig(database.connectionString, 'test'));
    const session = await openSession('test');
    await createSchema(session, paymentsProjection, liveSchema('payments'));
    await session.close();
    await rebuild([paymentsProjection], { store, codec }, openSession);
    return (
      (await database.sql.query<{ row: string }>('SELECT p::text AS row FROM rm_payments.payments p')).rows[0]?.row ??
      ''
    );
  };

  it('makes a changed event unreadable by chaining the events of a stream', async () => {
    const codec = new ChainingCodec(testCodec(), store);
    await createWith(codec);
    expect(await customerAt(codec)).to.deep.equal(customer);
    expect(await rebuiltWith(codec)).to.include('MARIA DE TESTE');
    await database.sql.query(`UPDATE event_store.events SET data = replace(data, 'BRL', 'USD') WHERE stream = $1`, [
      stream,
    ]);
    const fresh = new ChainingCodec(testCodec(), await database.connect());
    const decoded: Decoded[] = [];
    for await (const page of readDecoded({ store, codec: fresh }, stream)) decoded.push(...page);
    expect(decoded.map((one) => one instanceof UnreadableEvent)).to.deep.equal([true, false]);
    const refused = await customerAt(fresh).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(StreamUnreadable);
    expect((refused as Error).message).to.equal(`${stream}@0: its hash does not follow from the event before it`);
  });

  it('finds its reserved metadata key unused by the product', async () => {
    await createWith(testCodec());
    const { rows } = await database.sql.query<{ metadata: string }>('SELECT metadata FROM event_store.events');
    expect(rows.map(({ metadata }) => Object.hasOwn(JSON.parse(metadata) as object, 'chain'))).to.deep.equal([
      false,
      false,
      false,
    ]);
  });
});
