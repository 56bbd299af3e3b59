// The application core on a real PostgreSQL event store, with a clock and a provider that the test controls.

import { DECLARED_SETTINGS } from '../../application/capabilities.ts';
import { Accounts } from '../../application/core/accounts.ts';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import { UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { EventStore, NewEvent, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { EventMetadata } from '../../application/ports/loggedEvent.ts';
import { ACCOUNT, type OpenAccount, openAccount } from '../../domain/account/account.ts';
import { type AccountId, encodeRawId, type PaymentId, type StreamName } from '../../domain/kernel/ids.ts';
import { type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { createCharge } from '../../domain/payment/create.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { systemRandomness, systemStopwatch } from '../../infrastructure/system/system.ts';
import { FakeProvider } from '../world/fakeProvider.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { testCodec } from './dataKeys.ts';
import { CREATED_AT, EXPIRES_AT, instrument, terms } from './samples.ts';
import type { AnyEvent } from './serde.ts';

interface Spies {
  /** Called before each append of the commands. May throw to prevent it. */
  beforeAppend: ((stream: StreamName, events: readonly NewEvent[]) => Promise<void>) | null;
  /** Called after each append that the store has answered. May throw, as if the answer were lost. */
  afterAppend: (() => Promise<void>) | null;
  /** Called with each stream that the commands read. */
  onRead: ((stream: StreamName) => void) | null;
}

export interface Core {
  /** The real store, without spies. */
  readonly store: EventStore;
  /** Hooks between the commands and the store. */
  readonly spies: Spies;
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: { now(): number; nowMs: number };
  readonly provider: FakeProvider;
  readonly account: OpenAccount;
  /** Commands of another process on the same log. */
  anotherProcess(): CommandHandler;
  /** The same commands, with the spies. */
  newProcess(): CommandHandler;
  eventsOf(stream: StreamName): Promise<readonly AnyEvent[]>;
  /** Creates a charge with a pay code. `over` changes the terms of the samples. */
  openCharge(over?: Parameters<typeof terms>[0], expiresAt?: Timestamp): Promise<PaymentId>;
  close(): Promise<void>;
}

/** Reads the stored bytes and bypasses all caches. */
const stored = async (recorded: RecordedEvent): Promise<AnyEvent> => {
  const [decoded] = await testCodec().decode([recorded]);
  if (decoded === undefined || decoded instanceof UnreadableEvent) throw decoded?.reason ?? new Error('nothing');
  return decoded.event as AnyEvent;
};

let ids = 0;
export const newId = <Id extends string>(): Id => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, ++ids);
  return encodeRawId(bytes) as Id;
};

const system = { randomness: systemRandomness, stopwatch: systemStopwatch };

export const openCore = async (): Promise<Core> => {
  const database = await migratedDatabase();
  const store = await openPostgresEventStore({ connectionString: database.connectionString });
  const codec = testCodec();
  const spies: Spies = { beforeAppend: null, afterAppend: null, onRead: null };
  const spied: EventStore = {
    storeId: store.storeId,
    append: async (stream, expected, events) => {
      await spies.beforeAppend?.(stream, events);
      const result = await store.append(stream, expected, events);
      await spies.afterAppend?.();
      return result;
    },
    readStream: (stream, options) => {
      spies.onRead?.(stream);
      return store.readStream(stream, options);
    },
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    eventIdAt: (position) => store.eventIdAt(position),
    refusal: () => store.refusal(),
    onRestored: (listener) => store.onRestored(listener),
    onHead: (listener) => store.onHead(listener),
    close: () => store.close(),
  };
  const commands = new CommandHandler({ store: spied, codec, ...system });
  const clock = { nowMs: toMillis(CREATED_AT), now: () => clock.nowMs };
  const accounts = new Accounts(commands, clock, DECLARED_SETTINGS);
  const accountId = newId<AccountId>();
  const opening = {
    accountId,
    name: 'Loja',
    email: 'loja@example.com',
    idSeed: Buffer.alloc(32, 1).toString('base64'),
    at: CREATED_AT,
  };
  await commands.execute(
    ACCOUNT,
    ACCOUNT.stream(accountId),
    openAccount(opening, DECLARED_SETTINGS.settings),
    why(accountId),
  );
  return {
    store,
    spies,
    commands,
    accounts,
    clock,
    provider: new FakeProvider(),
    account: await accounts.get(accountId),
    anotherProcess: () => new CommandHandler({ store, codec: testCodec(), ...system }),
    newProcess: () => new CommandHandler({ store: spied, codec: testCodec(), ...system }),
    eventsOf: async (stream) => {
      const events: AnyEvent[] = [];
      for await (const recorded of store.readStream(stream)) events.push(await stored(recorded));
      return events;
    },
    openCharge: async (over = {}, expiresAt = EXPIRES_AT) => {
      const paymentId = newId<PaymentId>();
      const asked = terms({ accountId, paymentId, ...over });
      const decide = createCharge({
        terms: asked,
        fingerprintUnder: () => 'hash',
        fingerprintVersion: 1,
        instrument: instrument({ txid: asked.txid, expiresAt }),
        keyParam: 'Idempotency-Key',
      });
      await commands.execute(PAYMENT, PAYMENT.stream(paymentId), decide, why(accountId), { creates: true });
      return paymentId;
    },
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
};

export const why = (account: AccountId): EventMetadata => ({
  account,
  mode: 'test',
  actor: 'operator:test',
  requestId: null,
  correlationId: account,
  causationId: account,
});
