// A capability that is not part of the product, built as docs/how-to describes and through public interfaces only: an aggregate with event
// groups, postings, messages, a provider notification, a job with owed work, a read model, use cases and routes. Payers give tips with
// their payments. A tip is pending until the merchant releases it, and Quita thanks the payer.

import { expect } from 'chai';
import { CAPABILITIES, type Needs } from '../application/capabilities.ts';
import { capability, each, idOf, job, jobKind, mode, owedBy, payloadOf } from '../application/core/capability.ts';
import { declaredSettingsOf, jobsOf, type OperatorsOf, type UseCasesOf } from '../application/core/capabilityList.ts';
import { type Actor, metadataForProcess, metadataForRequest } from '../application/core/eventMetadata.ts';
import { enqueue, nothing, processManager, reacting } from '../application/core/reactions.ts';
import { settingChanged } from '../application/core/useCase.ts';
import { enqueueOwedWork } from '../application/core/watchdog.ts';
import type { Sql } from '../application/ports/sql.ts';
import { fanOutOf } from '../application/webhooks/webhookFanOut.ts';
import { ACCOUNT } from '../domain/account/account.ts';
import { AGGREGATES } from '../domain/aggregates.ts';
import { limitSetting, onSwitch } from '../domain/kernel/accountSetting.ts';
import { aggregate } from '../domain/kernel/aggregate.ts';
import { type Decider, type Decision, type Fact, ignore } from '../domain/kernel/decider.ts';
import { partition, reading } from '../domain/kernel/eventGroups.ts';
import { type AccountId, type Mode, type PaymentId, PREFIX, parseId, type Tenant } from '../domain/kernel/ids.ts';
import { entry, type Postings } from '../domain/kernel/journal.ts';
import { type Minor, negate, toMinor } from '../domain/kernel/money.ts';
import type { Publisher } from '../domain/kernel/publisher.ts';
import { isRejection, type Rejection, reject } from '../domain/kernel/rejection.ts';
import { integer, money, oneOf, record, serdeOf, text, time } from '../domain/kernel/serde.ts';
import { addMillis, DAY_MS, type Timestamp } from '../domain/kernel/time.ts';
import { legacyEvents, legacyMessage } from '../domain/presentation/envelope.ts';
import { correlationOf } from '../domain/webhookDelivery/webhookDelivery.ts';
import { PLATFORM } from '../http/api/ops/operatorRoutes.ts';
import { PAYMENTS } from '../http/api/payments/chargeSchema.ts';
import { paymentParam } from '../http/api/payments/payment.ts';
import { boolean, exactly, listOf, string } from '../http/kernel/jsonSchema.ts';
import { actorOf, routeCalling } from '../http/kernel/route.ts';
import type { AppServices } from '../http/kernel/serverContext.ts';
import { extension } from '../infrastructure/boot/gateway.ts';
import { openLog } from '../infrastructure/log/log.ts';
import { aggregateTable } from '../projections/engine/aggregateTable.ts';
import { liveSchema } from '../projections/engine/projection.ts';
import { verify } from '../projections/engine/verify.ts';
import { PROJECTIONS } from '../projections/registry.ts';
import { walletOf } from '../projections/wallet/projection.ts';
import { runWordsWith, toolEnv } from './support/cli.ts';
import { testCodec } from './support/dataKeys.ts';
import { PAYMENT_ID } from './support/samples.ts';
import type { TestGateway } from './world/gateway.ts';
import { expectError, openReady } from './world/http.ts';
import { Merchant } from './world/merchant.ts';
import { pollUntil } from './world/pollUntil.ts';
import { migratedDatabase, type TestDatabase } from './world/postgres.ts';
import { Receiver, typeOf } from './world/receiver.ts';
import { NO_SCHEDULES } from './world/withoutWorld.ts';

// --- The aggregate, as in a domain folder: one tip per payment ---

interface Tip {
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly amount: Minor;
  readonly at: Timestamp;
}
type TipEvent =
  | Fact<'TipGiven', Tip>
  | Fact<'TipThanked', { readonly words: string; readonly at: Timestamp }>
  | Fact<'TipReleased', Pick<Tip, 'amount' | 'at'>>
  | Fact<'TipToldAgain', { readonly number: number; readonly at: Timestamp }>;
type TipState =
  | { readonly status: 'absent' }
  | (Tip & {
      readonly status: 'given' | 'thanked';
      readonly words: string | null;
      readonly isReleased: boolean;
      readonly told: number;
    });
const tipDecider: Decider<TipState, TipEvent> = {
  initial: { status: 'absent' },
  evolve: (state, event) => {
    if (event.type === 'TipGiven') return { status: 'given', ...event.data, words: null, isReleased: false, told: 0 };
    if (state.status === 'absent') return state;
    switch (event.type) {
      case 'TipThanked':
        return { ...state, status: 'thanked', words: event.data.words };
      case 'TipReleased':
        return { ...state, isReleased: true };
      case 'TipToldAgain':
        return { ...state, told: event.data.number };
      default:
        return ignore(state, event);
    }
  },
};
const TIP_GROUPS = partition<TipEvent>()({
  money: ['TipGiven', 'TipReleased'],
  thanks: ['TipThanked'],
  messages: ['TipToldAgain'],
});

const giveTip =
  (tip: Tip): Decision<TipState, TipEvent, null> =>
  ({ status }) => ({ events: status === 'absent' ? [{ type: 'TipGiven', data: tip }] : [], reply: null });
const thankForTip =
  (words: string, at: Timestamp): Decision<TipState, TipEvent, null> =>
  ({ status }) => ({ events: status === 'given' ? [{ type: 'TipThanked', data: { words, at } }] : [], reply: null });
const NO_TIP = reject('not_found', 'There is no such tip.');
const releaseTip =
  (tenant: Tenant, at: Timestamp): Decision<TipState, TipEvent, { readonly tenant: Tenant }> =>
  (state) => {
    if (state.status === 'absent' || state.accountId !== tenant.accountId || state.mode !== tenant.mode) return NO_TIP;
    const { amount, isReleased } = state;
    return { events: isReleased ? [] : [{ type: 'TipReleased', data: { amount, at } }], reply: { tenant } };
  };
const tellTipAgain =
  (at: Timestamp): Decision<TipState, TipEvent, null> =>
  (state) =>
    state.status === 'absent'
      ? NO_TIP
      : { events: [{ type: 'TipToldAgain', data: { number: state.told + 1, at } }], reply: null };

// --- Postings and messages ---

const movesMoney = reading(TIP_GROUPS, { reads: ['money'], ignores: ['thanks', 'messages'] });
const tipPostings: Postings<TipEvent> = {
  entryOf: (event) => {
    if (!movesMoney(event)) return null;
    const { amount, at } = event.data;
    return entry(at, 'BRL', [
      [event.type === 'TipGiven' ? 'provider_clearing' : 'merchant_pending', negate(amount)],
      [event.type === 'TipGiven' ? 'merchant_pending' : 'merchant_available', amount],
    ]);
  },
  paymentOf: (_, { type, data }) => (type === 'TipGiven' ? data.paymentId : null),
  trancheOf: (event) => {
    if (!movesMoney(event)) return null;
    if (event.type === 'TipReleased') return { kind: 'released' };
    const { amount, at } = event.data;
    return { kind: 'held', currency: 'BRL', amount, releaseAt: addMillis(at, DAY_MS) };
  },
};
const tipPublisher: Publisher<TipState, TipEvent> = {
  catalogue: legacyEvents({ 'tip.given': 'A payer gave a tip.' }),
  isPublished: ({ type }) => type === 'TipGiven' || type === 'TipToldAgain',
  messagesOf: (before, { type, data }, after) =>
    type === 'TipGiven'
      ? [legacyMessage('tip.given', data.at, () => ({ was: before.status, is: after.status, amount: data.amount }))]
      : [],
  againOf: ({ type, data }) =>
    type === 'TipToldAgain' ? { ofRevision: 0, number: data.number, at: data.at, includes: () => true } : null,
};

// --- The descriptor that lists all of them ---

const TIP = aggregate<PaymentId>()({
  category: 'tip',
  idPrefix: null,
  decider: tipDecider,
  serde: serdeOf<TipEvent>({
    TipGiven: {
      version: 1,
      shape: record<Tip>({
        paymentId: text(),
        accountId: text(),
        mode: oneOf('live', 'test'),
        amount: money,
        at: time,
      }),
      personal: [],
    },
    TipThanked: { version: 1, shape: record({ words: text(), at: time }), personal: [] },
    TipReleased: { version: 1, shape: record({ amount: money, at: time }), personal: [] },
    TipToldAgain: { version: 1, shape: record({ number: integer, at: time }), personal: [] },
  }),
  groups: TIP_GROUPS,
  postings: tipPostings,
  publisher: tipPublisher,
});
const aggregates = [...AGGREGATES, TIP];

// --- The read model of tips, including those whose payer was not thanked yet ---

interface TipRow extends Tenant {
  readonly paymentId: PaymentId;
  readonly words: string | null;
}
interface Tips {
  of(tenant: Tenant): Promise<readonly TipRow[]>;
  /** Yields tips whose payer was not thanked yet, of all accounts. */
  notThanked(): AsyncIterable<readonly TipRow[]>;
}
const NAME = 'tips';
declare module '../application/ports/readModels/progress.ts' {
  interface ReadModels {
    readonly beside: typeof NAME;
  }
}
const tipsProjection = aggregateTable({
  name: NAME,
  version: 1,
  aggregate: TIP,
  table: 'tips',
  columns: [
    { name: 'status', type: 'text', of: ({ status }) => status },
    { name: 'words', type: 'text', of: (state) => (state.status === 'absent' ? null : state.words) },
  ],
  indexes: [{ columns: 'account_id, mode' }],
});
const SELECT = `SELECT id AS "paymentId", account_id AS "accountId", mode, words FROM ${liveSchema(NAME)}.tips`;
const tipsIn = (db: Sql): Tips => ({
  of: async ({ accountId, mode: own }) =>
    (await db.query<TipRow>(`${SELECT} WHERE account_id = $1 AND mode = $2 ORDER BY id`, [accountId, own])).rows,
  notThanked: async function* () {
    yield (await db.query<TipRow>(`${SELECT} WHERE status = 'given' ORDER BY id`, [])).rows;
  },
});

// --- The capability, as in a folder of application ---

const thank = jobKind({
  name: 'thank',
  payload: payloadOf({ accountId: idOf<AccountId>(), mode, paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }) => paymentId,
});
const thanking = processManager({
  name: 'thanking',
  movesMoney: false,
  from: 'now',
  reactions: {
    tip: reacting(TIP_GROUPS, {
      reads: {
        TipGiven: ({
          event: {
            data: { accountId, mode: own, paymentId },
          },
        }) => [enqueue(thank, { accountId, mode: own, paymentId })],
        TipReleased: nothing,
      },
      ignores: ['thanks', 'messages'],
    }),
  },
});

/** Thanks a payer. Throws if the payer can’t be reached. */
type ThankPayer = (paymentId: PaymentId) => Promise<string>;
type TipsNeeds = Pick<Needs, 'commands' | 'accounts'> & { readonly tips: Tips; readonly thankPayer: ThankPayer };
const AMOUNT = toMinor(500);

const tipMax = limitSetting<number>({
  name: 'tipMax',
  shape: integer,
  bounds: [1, 10_000],
  unlimited: 'any',
  isOwners: true,
  description: 'The largest tip, in minor units; null for no limit.',
  option: ['tip-max', 'the largest tip, in minor units; `any` for no limit'],
  line: (max) => ['tips', max === null ? 'any amount' : `up to ${max} minor units`],
});
const thanks = onSwitch(
  { name: 'tipThanks', apiName: 'tip_thanks', isUnsaid: true },
  'Whether test payers are thanked.',
);

const tipping = capability({
  name: 'tips',
  settings: [tipMax],
  sandboxSwitches: [thanks],
  parts: (needs: TipsNeeds) => needs,
  processes: [thanking],
  jobs: [
    job(thank, {
      handler: ({ commands, accounts, thankPayer }: TipsNeeds) =>
        each(async ({ paymentId, ...tenant }) => {
          const words = await thankPayer(paymentId);
          const decide = thankForTip(words, await accounts.now(tenant.accountId, tenant.mode));
          await commands.record(
            TIP,
            TIP.stream(paymentId),
            decide,
            metadataForProcess('thanking', tenant, paymentId, paymentId),
          );
        }),
      places: { places: 4, perTarget: 4 },
      idle: 'awaited',
      owed: owedBy(
        ({ tips }: TipsNeeds) => tips.notThanked(),
        ({ accountId, mode: own, paymentId }: TipRow) => ({
          tenant: { accountId, mode: own },
          payload: { accountId, mode: own, paymentId },
        }),
      ),
    }),
  ],
  notifications: {
    tip: {
      handle:
        ({ commands, accounts }) =>
        async ({ tenant, reference, paymentId }) => {
          const tip = { ...tenant, paymentId, amount: AMOUNT, at: await accounts.now(tenant.accountId, tenant.mode) };
          const why = metadataForProcess('tips', tenant, paymentId, reference);
          await commands.record(TIP, TIP.stream(paymentId), giveTip(tip), why);
          return true;
        },
    },
  },
  useCases: ({ commands, accounts, tips }: TipsNeeds) => ({
    listTips: tips.of,
    releaseTip: async (
      paymentId: PaymentId,
      tenant: Tenant,
      by: Actor,
    ): Promise<{ readonly tenant: Tenant } | Rejection> => {
      const decide = releaseTip(tenant, await accounts.now(tenant.accountId, tenant.mode));
      const why = metadataForRequest(by, tenant, paymentId);
      const done = await commands.execute(TIP, TIP.stream(paymentId), decide, why);
      return isRejection(done) ? done : done.reply;
    },
  }),
  records: { releaseTip: ({ tenant }, _, __, by) => settingChanged('tip', tenant, by) },
  operators: ({ commands, accounts }: Pick<TipsNeeds, 'commands' | 'accounts'>) => ({
    tellTipAgain: async (paymentId: PaymentId, by: Actor): Promise<Rejection | null> => {
      const { state } = await commands.load(TIP, TIP.stream(paymentId));
      if (state.status === 'absent') return NO_TIP;
      const decide = tellTipAgain(await accounts.now(state.accountId, state.mode));
      const done = await commands.execute(TIP, TIP.stream(paymentId), decide, metadataForRequest(by, state, paymentId));
      return isRejection(done) ? done : null;
    },
  }),
});

// --- The routes, as in a folder of http/api ---

type Capabilities = readonly [typeof tipping];
const route = routeCalling<AppServices & UseCasesOf<Capabilities> & { readonly platform: OperatorsOf<Capabilities> }>();
const done = { 200: { kind: 'json', description: 'It is done.', schema: exactly({ done: boolean }) } } as const;
const ROUTES = [
  route('GET', '/v1/tips', {
    operationId: 'listTips',
    summary: 'List tips',
    tag: PAYMENTS,
    principal: 'apiKey',
    reads: [NAME],
    responses: {
      200: {
        kind: 'json',
        description: 'The tips that payers were thanked for.',
        schema: exactly({ data: listOf(exactly({ id: string(), words: string() })) }),
      },
    },
    errors: [],
    handle: async ({ caller, services }) => {
      const tips = await services.listTips(caller.tenant);
      const data = tips.flatMap(({ paymentId: id, words }) => (words === null ? [] : [{ id, words }]));
      return { status: 200, body: { data } };
    },
  }),
  route('POST', '/v1/tips/{id}/release', {
    operationId: 'releaseTip',
    summary: 'Release a tip',
    tag: PAYMENTS,
    principal: 'apiKey',
    params: paymentParam,
    responses: done,
    errors: ['not_found'],
    handle: async (context) => {
      const { caller, params, services } = context;
      const released = await services.releaseTip(params.id, caller.tenant, actorOf(context));
      return isRejection(released) ? released : { status: 200, body: { done: true } };
    },
  }),
  route('POST', '/ops/v1/tips/{id}/tell', {
    operationId: 'tellTipAgain',
    summary: 'Publish a tip again',
    tag: PLATFORM,
    principal: 'operator',
    params: paymentParam,
    responses: done,
    errors: ['not_found'],
    handle: async (context) =>
      (await context.services.platform.tellTipAgain(context.params.id, actorOf(context))) ?? {
        status: 200,
        body: { done: true },
      },
  }),
];

describe('a foreign capability', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let receiver: Receiver;
  const logged: string[] = [];
  const codec = testCodec(aggregates);
  const projections = [...PROJECTIONS.filter(({ name }) => name !== 'wallet'), walletOf(aggregates), tipsProjection];

  let isAway = false;
  const failed: string[] = [];
  const thankPayer: ThankPayer = async (paymentId) => {
    if (!isAway) return 'Obrigado!';
    failed.push(paymentId);
    throw new Error('nobody is here to thank');
  };
  const own = extension([tipping], ({ reads }) => ({ tips: tipsIn(reads), thankPayer }), [TIP]);

  before(async () => {
    receiver = await Receiver.open();
    database = await migratedDatabase();
    gateway = await openReady({
      database,
      startSchedule: NO_SCHEDULES,
      extension: own,
      projections,
      codec,
      moreRoutes: ROUTES,
      log: openLog('info', { write: (line) => void logged.push(line) }),
    });
    merchant = await Merchant.open(gateway);
    await merchant.register(receiver.url);
  });
  after(async () => {
    await gateway.close();
    await database.drop();
    await receiver.close();
  });

  const tipped = async (): Promise<PaymentId> => {
    const paymentId = parseId<PaymentId>((await merchant.charge()).id, PREFIX.charge);
    if (paymentId === null) throw new Error('the charge has no id');
    const { accountId } = merchant.tenant;
    const key = { tenant: { accountId, mode: 'test' }, reference: `tip of ${paymentId}` } as const;
    await gateway.gateway.needs.notifications.store({ ...key, kind: 'tip', paymentId });
    return paymentId;
  };
  const listed = async (key = merchant.key) =>
    (await gateway.get<{ data: readonly { id: string; words: string }[] }>('/v1/tips', { key })).body.data;
  const untilThanked = async (id: string) =>
    expect(
      await pollUntil(
        gateway.gateway.projected,
        10_000,
        async () => (await listed()).find((one) => one.id === id) ?? null,
      ),
    ).to.deep.equal({ id, words: 'Obrigado!' });
  const balance = async () => {
    const { body } = await merchant.get<{ available: number; pending: number }>('/v1/wallets/balance');
    return { available: body.available, pending: body.pending };
  };
  const body = '{"event":"tip.given","data":{"was":"absent","is":"given","amount":500}}';
  const told = () => receiver.got.filter((hit) => typeOf(hit) === 'tip.given').map(({ rawBody }) => rawBody);

  it('handles a notification with a job, and lists the result for its own account only', async () => {
    const id = await tipped();
    await untilThanked(id);
    expect(await listed((await gateway.newTenant()).testKey)).to.deep.equal([]);
  });

  it('posts to the ledger, and logs a merchant’s change', async () => {
    const { available, pending } = await balance();
    const id = await tipped();
    await untilThanked(id);
    expect(await balance()).to.deep.equal({ available, pending: pending + 500 });
    for (const _ of ['once', 'twice']) {
      const released = await gateway.post(`/v1/tips/${id}/release`, undefined, { key: merchant.key });
      expect([released.status, released.body], released.text).to.deep.equal([200, { done: true }]);
    }
    expect(await balance()).to.deep.equal({ available: available + 500, pending });
    const other = { key: (await gateway.newTenant()).testKey };
    expectError(await gateway.post(`/v1/tips/${id}/release`, undefined, other), 404, 'not_found');
    const changes = logged.filter((line) => line.includes('"setting":"tip"'));
    expect(changes.map((line) => JSON.parse(line).account)).to.deep.equal([
      ACCOUNT.idPrefix + merchant.tenant.accountId,
      ACCOUNT.idPrefix + merchant.tenant.accountId,
    ]);
    const { ledger } = gateway.gateway.needs;
    expect(await ledger.sums(), 'every entry sums to zero').to.deep.include({ entries: [], balances: [] });
  });

  it('publishes to endpoints, and again on an operator’s request', async () => {
    const operator = { headers: await gateway.logIn('OPERATOR'), key: null };
    const id = await tipped();
    await untilThanked(id);
    await merchant.flush();
    const before = told();
    const again = await gateway.post(`/ops/v1/tips/${id}/tell`, undefined, operator);
    expect([again.status, again.body], again.text).to.deep.equal([200, { done: true }]);
    await merchant.flush();
    expect(told()).to.deep.equal([...before, body]);
    expect(new Set(before)).to.deep.equal(new Set([body]));
    expectError(await gateway.post(`/ops/v1/tips/${id}/tell`, undefined, { key: merchant.key }), 401, 'unauthorized');
  });

  it('has an account setting that an OWNER or an operator can change, by request or command', async () => {
    const { accountId } = merchant.tenant;
    const account = ACCOUNT.idPrefix + accountId;
    const member = await gateway.addUser('OWNER', { tenant: merchant.tenant });
    const owner = { headers: await gateway.logIn('OWNER', member), key: null };
    const operator = { headers: await gateway.logIn('OPERATOR'), key: null };
    const patch = (path: string, body: object, by: object) =>
      gateway.call<{ tipMax?: number | null }>('PATCH', path, { ...by, body });
    const max = async () => tipMax.of((await gateway.gateway.accounts.refresh(accountId)).settings);
    expect(await max()).to.equal(null);
    const [own, any] = ['/v1/account/settings', `/ops/v1/accounts/${account}/settings`];
    expect((await patch(own, { tipMax: 700 }, owner)).body.tipMax).to.equal(700);
    expectError(await patch(own, { tipMax: 0 }, owner), 400, 'invalid_request', 'tipMax');
    expect((await patch(any, { tipMax: 800 }, operator)).body.tipMax).to.equal(800);
    expect(await max()).to.equal(800);
    const declared = declaredSettingsOf([...CAPABILITIES, tipping]);
    const cli = (...words: string[]) =>
      runWordsWith<{ settings: { tipMax: number | null } }>(
        declared,
        toolEnv(database.connectionString),
        ...['account', 'settings', account, ...words],
      );
    expect((await cli('--tip-max', '900', '--json')).json.settings.tipMax).to.equal(900);
    expect((await cli()).out).to.contain('tips                  up to 900 minor units\n');
    expect((await cli('--tip-max', '0')).err).to.contain(
      'quita: --tip-max must be a whole number from 1 to 10000, not "0"\n',
    );
    expect((await cli('--tip-max', 'any', '--json')).json.settings.tipMax).to.equal(null);
    const { body } = await gateway.get<{ settings: { tipMax: number | null } }>('/v1/account', owner);
    expect(body.settings.tipMax).to.equal(null);
  });

  it('has a sandbox switch', async () => {
    const change = (body: object) => gateway.post<Record<string, unknown>>('/v1/sandbox/settings', body, merchant);
    expect((await change({})).body['tip_thanks']).to.equal(true);
    expect((await change({ tip_thanks: false })).body['tip_thanks']).to.equal(false);
    const { sandbox } = await gateway.gateway.accounts.refresh(merchant.tenant.accountId);
    expect(thanks.of(sandbox)).to.equal(false);
  });

  it('creates no job without a listening endpoint, and uses its own id for correlation', () => {
    const at = gateway.gateway.accounts.realNow();
    const { accountId: account } = merchant.tenant;
    const stream = TIP.stream(PAYMENT_ID);
    const data = { paymentId: PAYMENT_ID, accountId: account, mode: 'test', amount: AMOUNT, at } as const;
    const given = { stream, subject: PAYMENT_ID, revision: 0, account, mode: 'test', category: TIP.category } as const;
    const onlyUrls = { endpoints: () => [], hasWebhookUrls: () => true };
    const { react } = fanOutOf(aggregates);
    expect(react({ ...given, event: { type: 'TipGiven', data } }, onlyUrls)).to.deep.equal([]);
    expect(correlationOf({ stream, paymentId: null })).to.equal(PAYMENT_ID);
  });

  it('enqueues owed work again after its job was lost', async () => {
    isAway = true;
    const id = await tipped();
    const { jobs, needs, projected } = gateway.gateway;
    const moves = { onMove: (listener: () => void) => jobs.onSettled(listener) };
    expect(await pollUntil(moves, 10_000, async () => (failed.includes(id) ? true : null))).to.equal(true);
    await gateway.storage.operations.query("DELETE FROM jobs.job WHERE name = 'thank'");
    isAway = false;
    expect(await projected.caughtUp(10_000)).to.equal(true);
    const found = await enqueueOwedWork(jobsOf(own.capabilities), needs);
    const payload = { accountId: merchant.tenant.accountId, mode: 'test', paymentId: id };
    expect(found.map((one) => [one.queue, one.payload])).to.deep.equal([['thank', payload]]);
    jobs.wake(found);
    await untilThanked(id);
    expect(await enqueueOwedWork(jobsOf(own.capabilities), needs)).to.deep.equal([]);
  });

  it('is monitored and verified like the others', async () => {
    expect(gateway.gateway.reacted.names).to.include('process/thanking');
    expect(gateway.gateway.projected.names).to.include(NAME);
    const { store, openSession, operations } = gateway.storage;
    const report = await verify(projections, { store, codec }, openSession);
    expect([report.differenceCount, report.parked]).to.deep.equal([0, []]);
    const { rowCount } = await operations.query(`UPDATE ${liveSchema(NAME)}.tips SET words = 'Nada'`);
    expect((await verify(projections, { store, codec }, openSession)).differenceCount).to.equal(rowCount);
  });
});
