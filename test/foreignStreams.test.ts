// Streams of a category that the product does not have post to the ledger and publish messages, through the seams that payments use. Tips:
// a payer gives one, which the merchant may take out a day later.
import { expect } from 'chai';
import { CommandHandler } from '../application/core/commandHandler.ts';
import { deliveryIdOf, eventIdOf } from '../application/core/derivedIds.ts';
import { JsonEventCodec } from '../application/core/eventCodec.ts';
import { metadataForProcess } from '../application/core/eventMetadata.ts';
import type { Subscriptions } from '../application/ports/processManager.ts';
import type { ScheduledDelivery } from '../application/ports/scheduledDeliveries.ts';
import { published, StreamMessages } from '../application/webhooks/streamMessages.ts';
import { fanOutOf, scheduleMessages } from '../application/webhooks/webhookFanOut.ts';
import { SERDE } from '../domain/aggregates.ts';
import { aggregate } from '../domain/kernel/aggregate.ts';
import type { Decider } from '../domain/kernel/decider.ts';
import type { Fact } from '../domain/kernel/event.ts';
import type { EndpointId, PaymentId } from '../domain/kernel/ids.ts';
import { type Minor, negate, toMinor } from '../domain/kernel/money.ts';
import { integer, money, nullable, record, serdeOf, text, time } from '../domain/kernel/serde.ts';
import { addMillis, DAY_MS, type Timestamp } from '../domain/kernel/time.ts';
import { entry, type Postings } from '../domain/ledger/journal.ts';
import { legacyMessage } from '../domain/presentation/envelope.ts';
import type { Publisher } from '../domain/presentation/publisher.ts';
import { correlationOf } from '../domain/webhookDelivery/webhookDelivery.ts';
import { registerEndpoint, WEBHOOK_ENDPOINT } from '../domain/webhookEndpoint/webhookEndpoint.ts';
import { connectionConfig, PgPool } from '../infrastructure/postgres/session.ts';
import { systemRandomness } from '../infrastructure/system/randomness.ts';
import { systemStopwatch } from '../infrastructure/system/stopwatch.ts';
import { walletOf } from '../projections/wallet/projection.ts';
import { walletViews } from '../projections/wallet/queries.ts';
import { memoryEventStore } from './support/memoryEventStore.ts';
import { migratedDatabase, type TestDatabase } from './support/postgres.ts';
import { ACCOUNT_ID, at, PAYMENT_ID } from './support/samples.ts';

interface Tip {
  readonly paymentId: PaymentId | null;
  readonly amount: Minor;
  readonly at: Timestamp;
}
type TipEvent =
  | Fact<'TipGiven', Tip>
  | Fact<'TipReleased', Pick<Tip, 'amount' | 'at'>>
  | Fact<'TipToldAgain', { readonly ofRevision: number; readonly at: Timestamp }>;
type TipState = { readonly status: 'absent' } | (Tip & { readonly status: 'held' | 'released' });
const tip: Decider<TipState, TipEvent> = {
  initial: { status: 'absent' },
  evolve: (state, event) => {
    if (event.type === 'TipGiven') return { status: 'held', ...event.data };
    return state.status === 'absent' || event.type === 'TipToldAgain' ? state : { ...state, status: 'released' };
  },
};
const tipSerde = serdeOf<TipEvent>({
  TipGiven: { version: 1, shape: record<Tip>({ paymentId: nullable(text()), amount: money, at: time }), personal: [] },
  TipReleased: { version: 1, shape: record({ amount: money, at: time }), personal: [] },
  TipToldAgain: { version: 1, shape: record({ ofRevision: integer, at: time }), personal: [] },
});
const TIP = aggregate<string>()({ category: 'tip', idPrefix: null, serde: tipSerde, decider: tip });

const tipPostings: Postings<TipEvent> = {
  entryOf: ({ type, data }) => {
    if (type === 'TipToldAgain') return null;
    return entry(data.at, 'BRL', [
      [type === 'TipGiven' ? 'provider_clearing' : 'merchant_pending', negate(data.amount)],
      [type === 'TipGiven' ? 'merchant_pending' : 'merchant_available', data.amount],
    ]);
  },
  trancheOf: ({ type, data }) => {
    if (type === 'TipToldAgain') return null;
    if (type === 'TipReleased') return { kind: 'released' };
    return { kind: 'held', currency: 'BRL', amount: data.amount, releaseAt: addMillis(data.at, DAY_MS) };
  },
  paymentOf: (_, event) => (event.type === 'TipGiven' ? event.data.paymentId : null),
};
const tipPublisher: Publisher<TipState, TipEvent> = {
  isPublished: ({ type }) => type !== 'TipReleased',
  messagesOf: (before, { type, data }, after) =>
    type === 'TipGiven'
      ? [legacyMessage('tip.given', data.at, () => ({ was: before.status, is: after.status, amount: data.amount }))]
      : [],
  againOf: ({ type, data }) =>
    type === 'TipToldAgain' ? { ofRevision: data.ofRevision, number: 1, at: data.at, includes: () => true } : null,
  paymentOf: (_, state) => (state.status === 'absent' ? null : state.paymentId),
};

const STREAM = TIP.stream('7');
const GIVEN_AT = at('13:00:00');
const given = (paymentId: PaymentId | null): TipEvent => ({
  type: 'TipGiven',
  data: { paymentId, amount: toMinor(500), at: GIVEN_AT },
});
const RELEASED: TipEvent = { type: 'TipReleased', data: { amount: toMinor(500), at: addMillis(GIVEN_AT, DAY_MS) } };

describe('a stream of a foreign category', () => {
  describe('in the ledger', () => {
    const tenant = { accountId: ACCOUNT_ID, mode: 'test' } as const;
    const wallet = walletOf({ tip: tipPostings });
    const writer = wallet.writer('rm_wallet');
    let database: TestDatabase;
    let pool: PgPool;
    before(async () => {
      database = await migratedDatabase();
      pool = new PgPool(connectionConfig(database.connectionString, 'test'), 1, () => undefined);
      await pool.query(`CREATE SCHEMA rm_wallet; ${wallet.ddl('rm_wallet')}`);
    });
    after(async () => {
      await pool.close();
      await database.drop();
    });
    const apply = (revision: number, event: TipEvent, category = 'tip') =>
      writer.apply(
        [{ category, stream: STREAM, subject: '7', revision, account: ACCOUNT_ID, mode: 'test', event }],
        pool,
      );

    it('posts, holds and releases, under the payment that it names or none', async () => {
      expect(wallet.categories).to.deep.equal(['tip']);
      await apply(0, given(PAYMENT_ID));
      const held = { currency: 'BRL', available: 0, pending: 500, retained: 0 };
      const nextRelease = { at: addMillis(GIVEN_AT, DAY_MS), amount: 500 };
      expect(await walletViews(pool).balances(tenant)).to.deep.equal([{ ...held, nextRelease }]);
      await apply(1, RELEASED);
      const released = { currency: 'BRL', available: 500, pending: 0, retained: 0, nextRelease: null };
      expect(await walletViews(pool).balances(tenant)).to.deep.equal([released]);
      const { rows } = await pool.query(
        'SELECT stream, payment_id, revision, sum(amount)::bigint AS sum FROM rm_wallet.postings GROUP BY 1, 2, 3 ORDER BY 3',
      );
      expect(rows).to.deep.equal([
        { stream: STREAM, payment_id: PAYMENT_ID, revision: 0, sum: 0 },
        { stream: STREAM, payment_id: null, revision: 1, sum: 0 },
      ]);
    });
    it('moves nothing while its category has no postings', async () => {
      await apply(2, given(null), 'gift');
      const { rows } = await pool.query('SELECT revision FROM rm_wallet.entries WHERE revision = 2');
      expect(rows).to.deep.equal([]);
    });
  });

  describe('in webhooks', () => {
    const ENDPOINT = '00000000000000000000000003' as EndpointId;
    const tenant = { accountId: ACCOUNT_ID, mode: 'test' } as const;
    const subscriptions: Subscriptions = {
      endpoints: () => [{ endpointId: ENDPOINT, events: ['tip.given'] }],
      hasWebhookUrls: () => true,
    };
    const publishers = { tip: published(TIP, tipPublisher) };
    const fanOut = fanOutOf(publishers);
    let commands: CommandHandler;
    let messages: StreamMessages;
    let scheduled: ScheduledDelivery[];

    const TOLD_AGAIN: TipEvent = { type: 'TipToldAgain', data: { ofRevision: 0, at: addMillis(GIVEN_AT, DAY_MS) } };
    const history = [given(null), RELEASED, TOLD_AGAIN];
    before(async () => {
      const store = memoryEventStore(async () => undefined);
      const serdes = { ...SERDE, tip: tipSerde };
      const codec = new JsonEventCodec(serdes);
      commands = new CommandHandler({ store, codec, randomness: systemRandomness, stopwatch: systemStopwatch });
      messages = new StreamMessages(commands, publishers);
      const endpoint = {
        endpointId: ENDPOINT,
        ...tenant,
        url: 'https://shop.example',
        events: ['*'],
        secretVersion: 1,
      };
      const why = metadataForProcess('test', tenant, ENDPOINT, ENDPOINT);
      const stream = WEBHOOK_ENDPOINT.stream(ENDPOINT);
      await commands.record(WEBHOOK_ENDPOINT, stream, registerEndpoint(endpoint, GIVEN_AT), why);
      await commands.record(TIP, STREAM, () => ({ events: history, reply: null }), why);
    });
    beforeEach(() => {
      scheduled = [];
    });
    const react = (revision: number, category = 'tip') => {
      const event = history[revision] as TipEvent;
      const logged = {
        category,
        stream: STREAM,
        subject: '7',
        revision,
        account: ACCOUNT_ID,
        mode: 'test',
        event,
      } as const;
      return fanOut.react(logged, subscriptions);
    };
    const schedule = (revision: number) =>
      scheduleMessages({
        commands,
        messages,
        scheduled: { schedule: async (all) => void scheduled.push(...all.map((one) => one.scheduled)) },
      }).run([{ stream: STREAM, revision, endpointIds: [ENDPOINT] }], null, false);

    it('takes a job for each event that is published, and none of another category', () => {
      expect(fanOut.categories).to.deep.equal(['tip', 'webhookEndpoint']);
      const job = (revision: number) => ({
        kind: 'job',
        job: { queue: 'fanOut', payload: { stream: STREAM, revision, endpointIds: [ENDPOINT] } },
      });
      expect([0, 1, 2].map((revision) => react(revision))).to.deep.equal([[job(0)], [], [job(2)]]);
      expect(react(0, 'gift')).to.deep.equal([]);
      // Only payments may have URLs of their own.
      const noEndpoints = { ...subscriptions, endpoints: () => [] };
      const logged = {
        category: 'tip',
        stream: STREAM,
        subject: '7',
        revision: 0,
        account: ACCOUNT_ID,
        mode: 'test',
      } as const;
      expect(fanOut.react({ ...logged, event: given(null) }, noEndpoints)).to.deep.equal([]);
    });
    it('has its messages delivered, and again, under the event of its stream', async () => {
      await schedule(0);
      await schedule(2);
      const eventId = eventIdOf(ACCOUNT_ID, STREAM, 0, 'tip.given');
      const delivery = { stream: STREAM, revision: 0, paymentId: null, eventType: 'tip.given', endpointId: ENDPOINT };
      expect(scheduled).to.deep.equal(
        [
          { resend: 0, scheduledAt: GIVEN_AT },
          { resend: 1, scheduledAt: addMillis(GIVEN_AT, DAY_MS) },
        ].map((of) => ({
          deliveryId: deliveryIdOf(ACCOUNT_ID, eventId, ENDPOINT, of.resend),
          tenant,
          target: ENDPOINT,
          delivery: { ...delivery, ...of },
        })),
      );
      const bodies = await messages.bodiesOf(scheduled.map((one) => ({ ...one.delivery, form: 1 })));
      const body = '{"event":"tip.given","data":{"was":"absent","is":"held","amount":500}}';
      expect(bodies).to.deep.equal([body, body]);
      expect(correlationOf({ ...delivery }), 'there is no payment').to.equal('7');
    });
  });
});
