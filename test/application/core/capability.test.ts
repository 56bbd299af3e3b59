// The list of capabilities, from which the queues, timers, processes, workers and the watchdog are derived.
import { expect } from 'chai';
import Type from 'typebox';
import { CAPABILITIES, PROCESSES, QUEUES } from '../../../application/capabilities.ts';
import { capability, each, job, jobKind, owedBy } from '../../../application/core/capability.ts';
import { jobsOf, maySkip, useCasesOf } from '../../../application/core/capabilityList.ts';
import type { Changer } from '../../../application/core/eventMetadata.ts';
import { settingChanged } from '../../../application/core/useCase.ts';
import { enqueueOwedWork, type WatchdogNeeds } from '../../../application/core/watchdog.ts';
import type { SettingChanged } from '../../../application/ports/securityEvents.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import type { PendingWork } from '../../../domain/payment/pendingWork.ts';
import { knownQueues } from '../../../infrastructure/jobs/payloads.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { ACCOUNT_ID, at, END_TO_END_ID, PAYMENT_ID, REFUND_ID } from '../../support/samples.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

const TENANT = { accountId: ACCOUNT_ID, mode: 'test' } as const;

/** One sample of each kind. A new kind does not compile until it is added here. */
const PENDING: { readonly [K in PendingWork['kind']]: PendingWork & { readonly kind: K } } = {
  issueInstruments: { kind: 'issueInstruments', at: at('13:00:00') },
  resumeIssuing: { kind: 'resumeIssuing', at: at('13:00:00') },
  expire: { kind: 'expire', at: at('13:00:00') },
  cancel: { kind: 'cancel', at: at('13:00:00') },
  releaseFunds: { kind: 'releaseFunds', at: at('13:00:00') },
  returnPayment: { kind: 'returnPayment', at: at('13:00:00'), providerPaymentId: END_TO_END_ID },
  refund: { kind: 'refund', at: at('13:00:00'), refundId: REFUND_ID },
};

describe('the capabilities', () => {
  it('give every queue and every process a unique name', () => {
    expect(new Set(QUEUES).size).to.equal(QUEUES.length);
    expect(new Set(PROCESSES.map(({ name }) => name)).size).to.equal(PROCESSES.length);
  });

  it('start every process that keeps state at the beginning of the log', () => {
    const remembering = PROCESSES.filter(({ remembers }) => remembers !== null);
    expect(remembering.map(({ name, from }) => [name, from])).to.deep.equal([['webhookFanOut', 'beginning']]);
  });

  it('enqueue each kind of pending work by exactly one job, with a payload that fits the schema', async () => {
    const jobs = new RecordingJobs();
    const owing = jobsOf(CAPABILITIES).filter(({ owed, routine }) => owed.by === 'query' && routine === undefined);
    // Any other query of any capability returns an empty list and stream.
    const none = () => Object.assign([], { async *[Symbol.asyncIterator]() {} });
    const others = new Proxy({}, { get: () => none });
    const own: { readonly [name: string | symbol]: object } = {
      jobs,
      timers: memoryTimers(),
      clock: { now: () => Date.parse('2026-11-21T14:00:00.000Z') },
      deliveries: { overdue: none },
      payments: {
        overdue: async function* () {
          yield Object.values(PENDING).map((work) => ({ tenant: TENANT, paymentId: PAYMENT_ID, work }));
        },
      },
    };
    const needs = new Proxy(own, { get: (_, name) => own[name] ?? others });
    const found = await enqueueOwedWork(owing, needs as never);
    expect(found.map(({ queue }) => queue).toSorted()).to.deep.equal(Object.keys(PENDING).toSorted());
    const queues = knownQueues(jobsOf(CAPABILITIES).map(({ kind }) => ({ kind, isOwedByRow: false })));
    for (const { queue, payload } of found) expect(queues.get(queue)?.subjectOf(payload), queue).to.be.a('string');
  });

  it('skip owed work that has a timer', async () => {
    const timers = memoryTimers();
    const jobs = new RecordingJobs();
    const expire = jobsOf(CAPABILITIES).filter(({ kind }) => kind.name === 'expire');
    const needs = {
      jobs,
      timers,
      clock: { now: () => 0 },
      payments: {
        overdue: async function* () {
          yield [{ tenant: TENANT, paymentId: PAYMENT_ID, work: PENDING.expire }];
        },
      },
    };
    timers.timers.set(PAYMENT_ID, {} as never);
    expect(await enqueueOwedWork(expire, needs as never)).to.deep.equal([]);
    timers.timers.clear();
    expect(await enqueueOwedWork(expire, needs as never)).to.have.length(1);
  });

  it('allow skipping an event without confirmation only in processes that move no money', () => {
    const skippable = PROCESSES.filter(({ name }) => maySkip(PROCESSES, `process/${name}`)).map(({ name }) => name);
    expect(skippable.toSorted()).to.deep.equal([
      'caseDeadlines',
      'caseMailing',
      'erasure',
      'testClock',
      'webhookDelivery',
      'webhookFanOut',
    ]);
    for (const other of ['payments', 'testClock', 'process/none']) expect(maySkip(PROCESSES, other)).to.equal(false);
  });

  it('limit the slots per target: few per endpoint, and one for a test clock or re-drive', () => {
    const special = jobsOf(CAPABILITIES)
      .filter(({ places: { places, perTarget } }) => places !== 24 || perTarget !== 24)
      .map(({ kind, places: { places, perTarget } }) => [kind.name, places, perTarget]);
    expect(special).to.deep.equal([
      ['settle', 96, 96],
      ['passwordLink', 4, 4],
      ['mailCase', 4, 4],
      ['deliver', 256, 4],
      ['redrive', 2, 1],
      ['drainClock', 12, 1],
      ['providerCallback', 24, 8],
    ]);
  });

  it('require each job to declare its owed work, at compile time', () => {
    const kind = jobKind({ name: 'gift', payload: Type.Object({ id: Type.String() }), subjectOf: ({ id }) => id });
    const declared = {
      handler: () => each(async () => undefined),
      places: { places: 1, perTarget: 1 },
      idle: 'apart',
    } as const;
    // @ts-expect-error: what is owed must be said
    job(kind, declared);
    const named = owedBy<WatchdogNeeds, string, { name: string }>(
      async function* () {},
      () => null,
    );
    // @ts-expect-error: a payload of another kind
    job(kind, { ...declared, owed: named });
    const whole = job(kind, {
      ...declared,
      owed: owedBy<WatchdogNeeds, string, { id: string }>(
        async function* () {},
        (id) => ({ tenant: TENANT, payload: { id } }),
      ),
    });
    expect(whole.kind.name).to.equal('gift');
  });

  it('create their parts once per set of needs, shared by jobs, use cases and gauges', () => {
    let made = 0;
    const parts = (needs: { readonly name: string }) => ({ ...needs, number: ++made });
    const one = capability({
      name: 'gifts',
      parts,
      useCases: ({ name, number }: ReturnType<typeof parts>) => ({ giftsOf: async () => `${name} ${number}` }),
      gauges: [{ name: 'gifts', help: 'Gifts.', read: async ({ number }) => number }],
    });
    const [first, second] = [{ name: 'a' }, { name: 'b' }];
    const asked = [one.useCases(first).giftsOf(), one.useCases(first).giftsOf(), one.useCases(second).giftsOf()];
    return Promise.all([...asked, one.gauges[0]?.read(first)]).then((all) =>
      expect(all).to.deep.equal(['a 1', 'a 1', 'b 2', 1]),
    );
  });

  it('record successful changes of their use cases in the security log, and no rejected ones', async () => {
    const by = { actor: 'key:1', requestId: null };
    const gifts = capability({
      name: 'gifts',
      parts: (needs: object) => needs,
      useCases: (_: object) => ({
        give: async (what: string, _by: Changer) => (what === '' ? reject('not_found', 'none') : { what }),
      }),
      records: { give: ({ what }, _what, who) => settingChanged(what, TENANT, who) },
    });
    const told: SettingChanged[] = [];
    const { give } = useCasesOf([gifts], {}, (change) => void told.push(change));
    expect(await give('a', by)).to.deep.equal({ what: 'a' });
    await give('', by);
    expect(told).to.deep.equal([{ setting: 'a', account: ACCOUNT_ID, mode: 'test', by: 'key:1', requestId: null }]);
  });

  it('reject two use cases with the same name', () => {
    const named = (name: string) =>
      capability({ name, parts: (needs: object) => needs, useCases: (_: object) => ({ give: async () => name }) });
    expect(() => useCasesOf([named('a'), named('b')], {}, () => undefined)).to.throw(
      'two capabilities have a use case named give',
    );
  });
});
