// How the codec seals payer data: with which key, what it does without one, and what it rejects (ADR 0017).
import { expect } from 'chai';
import { CommandHandler } from '../../../application/core/commandHandler.ts';
import { JsonEventCodec } from '../../../application/core/eventCodec.ts';
import { DataKeysUnavailable, type FoundKey, type NewDataKey } from '../../../application/ports/dataKeys.ts';
import {
  closedCodec,
  type Decoded,
  type EventsToEncode,
  UnreadableEvent,
} from '../../../application/ports/eventCodec.ts';
import type { NewEvent, Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import { HmacKey } from '../../../application/ports/hmac.ts';
import type { EventMetadata } from '../../../application/ports/loggedEvent.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import { exists, type PaymentEvent } from '../../../domain/payment/payment.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { DerivedKey, PostgresDataKeys } from '../../../infrastructure/secrets/dataKeys.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { MemoryDataKeys, TEST_SECRETS_KEY } from '../../support/dataKeys.ts';
import { createPostgresEventLog } from '../../support/postgresEventLog.ts';
import { ACCOUNT_ID, at, expired, instrument, PAYMENT_ID, terms } from '../../support/samples.ts';

const STREAM = PAYMENT.stream(PAYMENT_ID);
const metadata: EventMetadata = {
  ...{ account: ACCOUNT_ID, mode: 'test', actor: 'process:test', requestId: null },
  ...{ correlationId: PAYMENT_ID, causationId: PAYMENT_ID },
};
const created = (over: Parameters<typeof terms>[0] = {}): PaymentEvent => ({
  type: 'ChargeCreated',
  data: { ...terms(over), fingerprint: { version: 1, hash: 'hash' } },
});
const appendOf = (
  event: PaymentEvent,
  over: Partial<EventsToEncode<PaymentEvent>> = {},
): EventsToEncode<PaymentEvent> => ({
  ...{ serde: PAYMENT.serde, stream: STREAM, after: -1, events: [event], commandId: 'c', metadata, isCreation: true },
  ...over,
});
const recordedAs = ({ dataKey: _, ...event }: NewEvent, stream: StreamName = STREAM): RecordedEvent => ({
  ...{ ...event, stream, revision: 0, position: '1' as Position, recordedAt: '2026-11-21T13:00:00.000Z' },
});
const reasonOf = (one: Decoded | undefined): string | null =>
  one instanceof UnreadableEvent ? one.reason.message : null;
const dataOf = (one: Decoded | undefined): unknown => {
  if (one === undefined || one instanceof UnreadableEvent) throw one?.reason ?? new Error('nothing');
  return one.event.data;
};

const SALT = '\u0000\u007f\u0080\u00ff'.repeat(8);
const keyOf = (owner: string): DerivedKey => new DerivedKey(new HmacKey(Buffer.alloc(32, 1)), SALT, owner);

/** Simulates PostgreSQL, where an append stores its new data key. */
class TravellingKeys extends MemoryDataKeys {
  readonly stored: NewDataKey[] = [];
  override createWithAppend(owner: string): NewDataKey {
    return { owner, secretId: 1, salt: SALT, key: keyOf(owner) };
  }
  override remember(key: NewDataKey): void {
    this.stored.push(key);
  }
}
class NoKeys extends MemoryDataKeys {
  override find(): Promise<ReadonlyMap<string, FoundKey>> {
    return Promise.reject(new DataKeysUnavailable('the database is away'));
  }
  override findOrCreate(): Promise<FoundKey> {
    return Promise.reject(new DataKeysUnavailable('the database is away'));
  }
}

describe('sealed events', () => {
  it('stay readable in today’s stored form', async () => {
    const keys = new MemoryDataKeys();
    keys.set('0'.repeat(26), keyOf('0'.repeat(26)));
    const stored = {
      providerPaymentId: 'E1',
      ...{ amount: 12345, currency: 'BRL', at: at('13:07:00') },
      sealed: 'tHVf6SzI77PARc4t+AVzTHA6wdtriQW3ZTYST54/NiZVHp659iYBQf7Fe9nTNVhXrz7EZayYZndZ0OJIALUFMukrhHJn',
    };
    const recorded = {
      ...{ id: '7ec5d65f-3af3-80c6-a44d-2d76cea3d4f8', type: 'TransactionReturnRefused' },
      ...{ data: JSON.stringify(stored), metadata: JSON.stringify({ account: ACCOUNT_ID, mode: 'test', actor: 'a' }) },
    };
    const [read] = await new JsonEventCodec(keys).decode([
      recordedAs(recorded, PAYMENT.stream('0'.repeat(26) as never)),
    ]);
    const { sealed: _, ...open } = stored;
    expect(dataOf(read)).to.deep.equal({ ...open, reason: 'Conta de Maria encerrada' });
  });

  it('are decoded as erased, without fetching a key, for readers that need no personal data, and can be opened later', async () => {
    const [event] = await new JsonEventCodec(new MemoryDataKeys()).encode(appendOf(created()));
    const recorded = [recordedAs(event as NewEvent)];
    const away = new JsonEventCodec(new NoKeys());
    const [closed] = await closedCodec(away).decode(recorded);
    const { customer, metadata: free, ...rest } = dataOf(closed) as ReturnType<typeof terms>;
    expect([customer.name, customer.document, free, rest.amount]).to.deep.equal([null, null, {}, terms().amount]);

    const keys = new MemoryDataKeys();
    const [other] = await new JsonEventCodec(keys).encode(appendOf(created()));
    const reader = new JsonEventCodec(keys);
    const same = [recordedAs(other as NewEvent)];
    await closedCodec(reader).decode(same);
    const [open] = await reader.decode(same);
    expect(dataOf(open)).to.deep.equal(created().data);
    // The reader has this event decoded already, so it is not erased again.
    expect(await closedCodec(reader).decode(same)).to.deep.equal([open]);
  });

  it('can’t be opened in another stream, as another type, or after a change', async () => {
    const keys = new MemoryDataKeys();
    const [event] = await new JsonEventCodec(keys).encode(appendOf(created()));
    const recorded = recordedAs(event as NewEvent);
    const { sealed } = JSON.parse(recorded.data) as { sealed: string };
    const other = 'b'.repeat(26);
    keys.set(other, keys.recall(PAYMENT_ID)!);
    const moved = recordedAs(event as NewEvent, PAYMENT.stream(other as never));
    const changed = {
      ...recorded,
      data: recorded.data.replace(sealed, `${sealed.slice(0, -6)}AAAA${sealed.slice(-2)}`),
    };
    const decoded = await new JsonEventCodec(keys).decode([
      moved,
      changed,
      { ...recorded, type: 'ChargeRerouted' },
      recorded,
    ]);
    expect(decoded.map(reasonOf)).to.deep.equal([
      'ChargeCreated: Error while decoding',
      'ChargeCreated: Error while decoding',
      'ChargeRerouted: Error while decoding',
      null,
    ]);
  });

  it('need no key if they contain no personal data', async () => {
    const none = { name: null, document: null, email: null, phone: null };
    const codec = new JsonEventCodec(new NoKeys());
    const events = [created({ customer: none, metadata: {} }), expired()];
    for (const one of events) {
      const [event] = await codec.encode(appendOf(one));
      expect(JSON.parse((event as NewEvent).data)).to.not.have.property('sealed');
      expect(event).to.not.have.property('dataKey');
      expect(dataOf((await new JsonEventCodec(new NoKeys()).decode([recordedAs(event as NewEvent)]))[0])).to.deep.equal(
        one.data,
      );
    }
  });

  it('can be neither encoded nor decoded while keys are unavailable', async () => {
    const [event] = await new JsonEventCodec(new MemoryDataKeys()).encode(appendOf(created()));
    const away = new JsonEventCodec(new NoKeys());
    const failures = await Promise.allSettled([
      away.encode(appendOf(created())),
      away.decode([recordedAs(event as NewEvent)]),
    ]);
    expect(failures.map((one) => one.status === 'rejected' && one.reason instanceof DataKeysUnavailable)).to.deep.equal(
      [true, true],
    );
  });

  it('are decoded as erased if their key is missing, and become readable again with the key', async () => {
    const keys = new MemoryDataKeys();
    const [event] = await new JsonEventCodec(keys).encode(appendOf(created()));
    const codec = new JsonEventCodec(new MemoryDataKeys());
    const [erased] = await codec.decode([recordedAs(event as NewEvent)]);
    const none = { name: null, document: null, email: null, phone: null };
    expect(dataOf(erased)).to.deep.equal({ ...created().data, customer: none, metadata: {} });
    const [back] = await new JsonEventCodec(keys).decode([recordedAs(event as NewEvent)]);
    expect(dataOf(back)).to.deep.equal(created().data);
  });

  for (const [how, isOwn] of [
    ['encoded them itself', true],
    ['opened them before', false],
  ] as const)
    it(`are decoded as erased by a codec that ${how}, once their key is destroyed while notices of that are missed`, async () => {
      const keys = new MemoryDataKeys();
      keys.mayRemember = false;
      const codec = new JsonEventCodec(keys);
      const [event] = await (isOwn ? codec : new JsonEventCodec(keys)).encode(appendOf(created()));
      const recorded = recordedAs(event as NewEvent);
      expect((await codec.decode([recorded])).map(dataOf)).to.deep.equal([created().data]);
      keys.set(PAYMENT_ID, 'destroyed'); // as another process does, without a notice
      const none = { name: null, document: null, email: null, phone: null };
      const erased = { ...created().data, customer: none, metadata: {} };
      expect((await codec.decode([recorded])).map(dataOf)).to.deep.equal([erased]);
    });

  it('are decoded as erased if their key was replaced, while later events stay readable', async () => {
    const [lost, keys] = [new MemoryDataKeys(), new MemoryDataKeys()];
    const before = await new JsonEventCodec(lost).encode(appendOf(created()));
    const after = await new JsonEventCodec(keys).encode(appendOf(created(), { isCreation: false }));
    const decoded = await new JsonEventCodec(keys).decode([...before, ...after].map((one) => recordedAs(one)));
    const none = { name: null, document: null, email: null, phone: null };
    expect(decoded.map(dataOf)).to.deep.equal([{ ...created().data, customer: none, metadata: {} }, created().data]);
  });

  it('are unreadable, not erased, if any byte changes', async () => {
    const keys = new MemoryDataKeys();
    const [event] = await new JsonEventCodec(keys).encode(appendOf(created()));
    const recorded = recordedAs(event as NewEvent);
    const { sealed } = JSON.parse(recorded.data) as { sealed: string };
    const bytes = Buffer.from(sealed, 'base64');
    const changed = [...bytes].map((byte, at) =>
      Buffer.from(bytes)
        .fill(byte ^ 1, at, at + 1)
        .toString('base64'),
    );
    const decoded = await new JsonEventCodec(keys).decode(
      changed.map((text) => ({ ...recorded, data: recorded.data.replace(sealed, text) })),
    );
    expect(new Set(decoded.map(reasonOf))).to.deep.equal(new Set(['ChargeCreated: Error while decoding']));
  });

  it('carry a new key only in the append that creates the stream of the key’s owner', async () => {
    const keys = new TravellingKeys();
    const codec = new JsonEventCodec(keys);
    const keyOf = async (over: Partial<EventsToEncode<PaymentEvent>>) =>
      (await codec.encode(appendOf(created(), over)))[0]?.dataKey?.owner;
    expect(await keyOf({})).to.equal(PAYMENT_ID);
    expect(keys.recall(PAYMENT_ID), 'before the append').to.equal(undefined);
    expect(await keyOf({ metadata: { ...metadata, correlationId: 'another' } })).to.equal(undefined);
    expect(await keyOf({ isCreation: false })).to.equal(undefined);
    expect(await keyOf({}), 'as there is a key now').to.equal(undefined);
  });

  it('confirm, when read back, that their key is stored', async () => {
    const keys = new TravellingKeys();
    const codec = new JsonEventCodec(keys);
    const [event] = await codec.encode(appendOf(created()));
    expect(keys.stored).to.deep.equal([]);
    await codec.decode([recordedAs(event as NewEvent)]);
    expect(keys.stored.map(({ owner }) => owner)).to.deep.equal([PAYMENT_ID]);
  });

  it('are created even if the owner already has a key from an append that failed', async () => {
    const log = await createPostgresEventLog();
    const pool = new PgPool(connectionConfig(log.connectionString, 'test'), 2, () => undefined);
    const keyring = new SecretsKeyring([TEST_SECRETS_KEY]);
    const handler = async () =>
      new CommandHandler({
        ...{ store: await log.connect(), codec: new JsonEventCodec(new PostgresDataKeys(pool, keyring, true)) },
        ...{ randomness: systemRandomness, stopwatch: systemStopwatch },
      });
    await new PostgresDataKeys(pool, keyring, false).findOrCreate(PAYMENT_ID, true);
    const decide = createCharge({
      terms: terms(),
      fingerprintUnder: () => 'hash',
      fingerprintVersion: 1,
      instrument: instrument(),
      keyParam: 'Idempotency-Key',
    });
    const outcome = await (await handler()).execute(PAYMENT, STREAM, decide, metadata, { creates: true });
    expect(outcome).to.include({ appended: 2 });
    const { state } = await (await handler()).load(PAYMENT, STREAM);
    expect(exists(state) && state.charge.terms.customer).to.deep.equal(terms().customer);
    await pool.close();
    await log.dispose();
  });
});
