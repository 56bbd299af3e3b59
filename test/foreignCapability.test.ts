// A capability that the product does not have, built as docs/how-to says, through public seams alone: an event, a decision, a command, a
// job with what it owes, a read model and a route. Merchants thank for payments; one thank-you note a payment.

import { expect } from 'chai';
import type { Needs } from '../application/capabilities.ts';
import { capability, each, job, jobKind, owedBy } from '../application/core/capability.ts';
import { jobsOf, operatorsOf, useCasesOf } from '../application/core/capabilityList.ts';
import { JsonEventCodec } from '../application/core/eventCodec.ts';
import { type Changer, metadataForProcess } from '../application/core/eventMetadata.ts';
import { idOf, payloadOf } from '../application/core/payloads.ts';
import { enqueue, paymentOf, processManager, reacting } from '../application/core/reactions.ts';
import { settingChanged } from '../application/core/settingChanged.ts';
import { haveOwedWorkDone } from '../application/core/watchdog.ts';
import type { LoggedEvent } from '../application/ports/loggedEvent.ts';
import type { Tenant } from '../application/ports/paymentProvider.ts';
import type { ReadModelName } from '../application/ports/readModels/progress.ts';
import type { SettingChanged } from '../application/ports/securityEvents.ts';
import { type Sql, TextArray } from '../application/ports/sql.ts';
import { SERDE } from '../domain/aggregates.ts';
import { aggregate } from '../domain/kernel/aggregate.ts';
import type { Decider, Decision } from '../domain/kernel/decider.ts';
import type { Fact } from '../domain/kernel/event.ts';
import type { AccountId, Mode, PaymentId } from '../domain/kernel/ids.ts';
import { record, type Serde, serdeOf, text, time } from '../domain/kernel/serde.ts';
import type { Timestamp } from '../domain/kernel/time.ts';
import { PAYMENT_GROUPS } from '../domain/payment/eventGroups.ts';
import { described, exactly, listOf, string } from '../http/kernel/jsonSchema.ts';
import { route } from '../http/kernel/route.ts';
import { extension } from '../infrastructure/boot/gateway.ts';
import { liveSchema, type Projection } from '../projections/engine/projection.ts';
import { verify } from '../projections/engine/verify.ts';
import { PROJECTIONS } from '../projections/registry.ts';
import { Merchant } from './http/merchant.ts';
import { openReady } from './http/support.ts';
import type { TestGateway } from './support/gateway.ts';
import { pollUntil } from './support/pollUntil.ts';
import { NO_SCHEDULES } from './support/withoutWorld.ts';

// The aggregate: one thank-you note.
interface Note {
  readonly paymentId: PaymentId;
  readonly words: string;
  readonly at: Timestamp;
}
type ThanksEvent = Fact<'ThanksGiven', Note>;
type ThanksState = { readonly status: 'absent' } | { readonly status: 'given'; readonly note: Note };
const thanks: Decider<ThanksState, ThanksEvent> = {
  initial: { status: 'absent' },
  evolve: (_, event) => ({ status: 'given', note: event.data }),
};
const giveThanks =
  (note: Note): Decision<ThanksState, ThanksEvent, Note> =>
  (state) =>
    state.status === 'given'
      ? { events: [], reply: state.note }
      : { events: [{ type: 'ThanksGiven', data: note }], reply: note };
const thanksSerde: Serde<ThanksEvent> = serdeOf<ThanksEvent>({
  ThanksGiven: { version: 1, shape: record<Note>({ paymentId: text(), words: text(), at: time }), personal: [] },
});
const THANKS = aggregate<PaymentId>()({ category: 'thanks', idPrefix: null, decider: thanks, serde: thanksSerde });

// The job: for each payment that was settled.
const thank = jobKind({
  name: 'thank',
  payload: payloadOf({ paymentId: idOf<PaymentId>() }),
  subjectOf: ({ paymentId }) => paymentId,
});
const thanking = processManager({
  name: 'thanking',
  movesMoney: false,
  reactions: {
    payment: reacting(PAYMENT_GROUPS, {
      reads: { TransactionSettled: (logged) => [enqueue(thank, { paymentId: paymentOf(logged) })] },
      ignores: ['demand', 'methods', 'release', 'held', 'returns', 'refund', 'dispute'],
    }),
  },
});

// The read model: whom was thanked, and who still waits for it.
interface Row {
  readonly subject: string;
  readonly account: AccountId;
  readonly mode: Mode;
  readonly words: string | null;
}
interface Thanked {
  readonly payment_id: PaymentId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly words: string | null;
}
const NAME = 'thanks' as ReadModelName;
const TABLE = `${liveSchema(NAME)}.notes`;
const thanksProjection: Projection = {
  name: NAME,
  version: 1,
  categories: ['payment', THANKS.category],
  tables: [{ name: 'notes', key: ['payment_id'] }],
  ddl: (schema) =>
    `CREATE TABLE ${schema}.notes (payment_id text PRIMARY KEY, account_id text NOT NULL, mode text NOT NULL, words text);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const rows = events.flatMap(({ event, subject, account, mode }): readonly Row[] => {
        const { type, data } = event as unknown as ThanksEvent | { type: 'TransactionSettled'; data: unknown };
        if (type === 'TransactionSettled') return [{ subject, account, mode, words: null }];
        return type === 'ThanksGiven' ? [{ subject, account, mode, words: (data as Note).words }] : [];
      });
      const last = [...new Map(rows.map((row) => [row.subject, row])).values()];
      await tx.query(
        `INSERT INTO ${schema}.notes AS n SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
         ON CONFLICT (payment_id) DO UPDATE SET words = coalesce(excluded.words, n.words)`,
        [
          new TextArray(last.map(({ subject }) => subject)),
          last.map(({ account }) => account),
          last.map(({ mode }) => mode),
          last.map(({ words }) => words),
        ],
      );
    },
  }),
};

type NotesOf = (where: string, values: readonly unknown[]) => Promise<readonly Thanked[]>;
const notesIn =
  (db: Sql): NotesOf =>
  async (where, values) =>
    (await db.query<Thanked>(`SELECT * FROM ${TABLE} WHERE ${where} ORDER BY payment_id`, [...values])).rows;

type ThanksNeeds = Pick<Needs, 'commands' | 'accounts' | 'jobs' | 'timers' | 'clock'> & { readonly notesOf: NotesOf };

describe('a foreign capability', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  let isAway = false;
  const codec = new JsonEventCodec({ ...SERDE, [THANKS.category]: thanksSerde });
  const failed: string[] = [];
  const thanksgiving = capability({
    name: 'thanks',
    parts: (needs: ThanksNeeds) => needs,
    processes: [thanking],
    jobs: [
      job(thank, {
        handler: ({ commands, accounts, notesOf }: ThanksNeeds) =>
          each(async ({ paymentId }) => {
            if (isAway) {
              failed.push(paymentId);
              throw new Error('nobody is here to thank');
            }
            const [row] = await notesOf('payment_id = $1', [paymentId]);
            const tenant: Tenant = { accountId: row?.account_id as AccountId, mode: row?.mode as Mode };
            const at = await accounts.now(tenant.accountId, tenant.mode);
            const why = metadataForProcess('thanking', tenant, paymentId, paymentId);
            const note = { paymentId, words: 'Obrigado!', at };
            await commands.record(THANKS, THANKS.stream(paymentId), giveThanks(note), why);
          }),
        places: { places: 4, perTarget: 4 },
        idle: 'awaited',
        owed: owedBy(
          async function* ({ notesOf }: ThanksNeeds) {
            yield await notesOf('words IS NULL', []);
          },
          ({ account_id: accountId, mode, payment_id: paymentId }: Thanked) => ({
            tenant: { accountId, mode },
            payload: { paymentId },
          }),
        ),
      }),
    ],
    useCases: ({ accounts }: ThanksNeeds) => ({
      askForThanks: async (tenant: Tenant, by: Changer) => ({
        at: await accounts.now(tenant.accountId, tenant.mode),
        by,
      }),
    }),
    records: { askForThanks: (_, tenant, by) => settingChanged('thanks', tenant, by) },
    operators: ({ notesOf }: Pick<ThanksNeeds, 'notesOf'>) => ({
      countThanks: async () => (await notesOf('words IS NOT NULL', [])).length,
    }),
  });
  const projections = [...PROJECTIONS, thanksProjection];

  const listThanks = route({
    method: 'GET',
    path: '/v1/thanks',
    operationId: 'listThanks',
    summary: 'List the notes of thanks',
    tag: 'Operations',
    principal: 'apiKey',
    reads: [NAME],
    responses: {
      200: {
        kind: 'json',
        description: 'All notes of the account.',
        schema: exactly({ data: listOf(exactly({ id: described('Of the payment.', string()), words: string() })) }),
      },
    },
    errors: [],
    handle: async ({ caller: { tenant } }) => {
      const rows = await notesIn(gateway.storage.reads)('account_id = $1 AND mode = $2 AND words IS NOT NULL', [
        tenant.accountId,
        tenant.mode,
      ]);
      return { status: 200, body: { data: rows.map(({ payment_id: id, words }) => ({ id, words: words as string })) } };
    },
  });

  before(async () => {
    gateway = await openReady({
      startSchedule: NO_SCHEDULES,
      extension: extension([thanksgiving], ({ reads }) => ({ notesOf: notesIn(reads) })),
      projections,
      codec,
      moreRoutes: [listThanks],
    });
    merchant = await Merchant.open(gateway);
  });
  after(() => gateway.close());

  const paid = async (): Promise<string> => {
    const { id } = await merchant.charge();
    const { status } = await gateway.call('POST', `/v1/sandbox/charges/${id}/pay`, { key: merchant.key, body: {} });
    expect(status).to.equal(200);
    return id.slice('ch_'.length);
  };
  const needs = () => ({ ...gateway.gateway.needs, notesOf: notesIn(gateway.storage.reads) });
  const listed = async (key = merchant.key) =>
    (await gateway.call<{ data: readonly { id: string; words: string }[] }>('GET', '/v1/thanks', { key })).body.data;
  const untilThanked = (id: string) =>
    pollUntil(gateway.gateway.projected, 10_000, async () =>
      (await listed()).some((one) => one.id === id) ? true : null,
    );

  it('reacts, works, records and shows, for its own account alone', async () => {
    const id = await paid();
    expect(await untilThanked(id)).to.equal(true);
    expect(await listed()).to.deep.equal([{ id, words: 'Obrigado!' }]);
    expect(await listed((await gateway.newTenant()).testKey)).to.deep.equal([]);
  });

  it('is found again by what it owes when its job was lost', async () => {
    isAway = true;
    const id = await paid();
    const moves = { onMove: (listener: () => void) => gateway.gateway.jobs.onSettled(listener) };
    expect(await pollUntil(moves, 10_000, async () => (failed.includes(id) ? true : null))).to.equal(true);
    await gateway.storage.operations.query("DELETE FROM jobs.job WHERE name = 'thank'");
    isAway = false;
    const found = await haveOwedWorkDone(jobsOf([thanksgiving]), needs());
    expect(found.map(({ queue, payload }) => ({ queue, payload }))).to.deep.equal([
      { queue: 'thank', payload: { paymentId: id } },
    ]);
    gateway.gateway.jobs.wake(found);
    expect(await untilThanked(id)).to.equal(true);
    expect(await haveOwedWorkDone(jobsOf([thanksgiving]), needs())).to.deep.equal([]);
  });

  it('can be called by merchants and operators, and its changes are recorded', async () => {
    const told: SettingChanged[] = [];
    const { accountId } = gateway.tenant;
    const { askForThanks } = useCasesOf([thanksgiving], needs(), (change) => void told.push(change));
    await askForThanks({ accountId, mode: 'test' }, { actor: 'key:1', requestId: null });
    expect(told.map(({ setting, account }) => [setting, account])).to.deep.equal([['thanks', accountId]]);
    expect(await operatorsOf([thanksgiving], needs()).countThanks()).to.equal(2);
    expect(gateway.gateway.services).to.have.property('askForThanks');
    expect(gateway.gateway.services.platform).to.have.property('countThanks');
  });

  it('is watched and verified like any other', async () => {
    expect(gateway.gateway.reacted.names).to.include('process/thanking');
    expect(gateway.gateway.projected.names).to.include(NAME);
    const { store } = gateway.storage;
    const report = await verify(projections, { store, codec }, gateway.storage.openSession);
    expect([report.differenceCount, report.parked]).to.deep.equal([0, []]);
    await gateway.storage.operations.query(`UPDATE ${TABLE} SET words = 'Nada'`);
    const tampered = await verify(projections, { store, codec }, gateway.storage.openSession);
    expect(tampered.differenceCount).to.equal(2);
  });
});
