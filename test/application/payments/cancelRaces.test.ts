// Races of cancellation, payment and expiry: in any order of their steps, one of them wins, the others report it, and money and webhooks
// agree with it (architecture §4; rules E4, M4, M5). The processes share only a store and a provider.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { CommandHandler } from '../../../application/core/commandHandler.ts';
import { Canceller, cancelPayment } from '../../../application/payments/cancellation.ts';
import { expireCharge } from '../../../application/payments/expiry.ts';
import { sendBack } from '../../../application/payments/rejectedPaymentReturn.ts';
import { Settler } from '../../../application/payments/settle.ts';
import type { InstrumentRef } from '../../../application/ports/paymentProvider.ts';
import { ProviderUnavailable, UnknownAtProvider } from '../../../application/ports/paymentProvider.ts';
import { ACCOUNT, openAccount } from '../../../domain/account/account.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addSeconds, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import { assertExists, type ExistingPayment, type PaymentEvent } from '../../../domain/payment/payment.ts';
import { journalEntry } from '../../../domain/payment/postings.ts';
import { messagesOf } from '../../../domain/presentation/messages.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { why } from '../../support/core.ts';
import { testCodec } from '../../support/dataKeys.ts';
import {
  ACCOUNT_ID,
  CREATED_AT,
  EXPIRES_AT,
  incoming,
  instrument,
  LOCKED_TO,
  PAYMENT_ID,
  plain,
  TXID,
  terms,
} from '../../support/samples.ts';
import { FakeProvider } from '../../world/fakeProvider.ts';
import { memoryEventStore } from '../../world/memoryEventStore.ts';

/** `npm run soak -- cancelRaces` runs 10,000. */
const RUNS = Number(process.env['RACES'] ?? 300);
/** The limit for one interleaving. Most have a hundred steps; some wait for a command that pauses after a conflict. */
const STEPS_MAX = 20_000;
const STREAM = PAYMENT.stream(PAYMENT_ID);
const TENANT: Tenant = { accountId: ACCOUNT_ID, mode: 'test' };

type Step = (what: string) => Promise<void>;

/** A provider whose every answer is delayed. The first answers can be lost after the action was done. */
class FarProvider extends FakeProvider {
  readonly #step: Step;
  readonly #lost: boolean[];

  constructor(step: Step, lost: readonly boolean[]) {
    super();
    this.#step = step;
    this.#lost = [...lost];
  }
  override async cancel(ref: InstrumentRef) {
    const answer = await this.#far('cancel', () => super.cancel(ref));
    return answer ?? 'unknown';
  }
  override async paymentsOf(tenant: Tenant, txid: string) {
    const answer = await this.#far('paymentsOf', () => super.paymentsOf(tenant, txid));
    return answer ?? { kind: 'unknown' as const };
  }
  override async returnPayment(tenant: Tenant, back: { providerPaymentId: string; returnId: string; amount: number }) {
    const answer = await this.#far('returnPayment', () => super.returnPayment(tenant, back));
    return answer ?? { kind: 'unknown' as const };
  }
  /** Returns null if the action was done but its answer is lost. */
  async #far<T>(what: string, act: () => Promise<T>): Promise<T | null> {
    await this.#step(`${what} on its way`);
    const answer = await act();
    await this.#step(`${what} answered`);
    return this.#lost.shift() ? null : answer;
  }
}

interface Story {
  /** Whether each action has its own process, or all share one. */
  readonly apart: boolean;
  readonly paid: 'in time' | 'late';
  readonly amount: 'right' | 'wrong';
  /** Whether there is a payer lock, and whether the bank names the payer. */
  readonly lock: 'none' | 'match' | 'nobody named';
  readonly lost: readonly boolean[];
}
const story: fc.Arbitrary<Story> = fc.record({
  apart: fc.boolean(),
  paid: fc.constantFrom('in time', 'in time', 'late'),
  amount: fc.constantFrom('right', 'right', 'right', 'wrong'),
  lock: fc.constantFrom('none', 'none', 'match', 'nobody named'),
  lost: fc.array(fc.boolean(), { maxLength: 6 }),
});

/** Repeats the work until the provider answers, as the queue does. */
const untilKnown = async (work: () => Promise<void>): Promise<void> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnknownAtProvider)) throw error;
      await setImmediate(); // lets the pause of a command after a conflict end
    }
};

interface World {
  readonly provider: FarProvider;
  readonly process: () => { readonly commands: CommandHandler; readonly accounts: Accounts };
}

const openWorld = async ({ apart, lock, lost }: Story, step: Step): Promise<World> => {
  let isOpen = false;
  const turn: Step = async (what) => void (isOpen && (await step(what)));
  const store = memoryEventStore(turn);
  const provider = new FarProvider(turn, lost);
  const clock = { now: () => toMillis(EXPIRES_AT) };
  const newProcess = () => {
    const commands = new CommandHandler({
      store,
      codec: testCodec(),
      randomness: systemRandomness,
      stopwatch: systemStopwatch,
    });
    return { commands, accounts: new Accounts(commands, clock, DECLARED_SETTINGS) };
  };
  const shared = newProcess();
  const { commands } = shared;
  const opening = { accountId: ACCOUNT_ID, name: 'Loja', email: 'l@example.com', idSeed: 'seed', at: CREATED_AT };
  await commands.execute(
    ACCOUNT,
    ACCOUNT.stream(ACCOUNT_ID),
    openAccount(opening, DECLARED_SETTINGS.settings),
    why(ACCOUNT_ID),
  );
  const create = createCharge({
    terms: terms({ expectedPayerTaxId: lock === 'none' ? null : LOCKED_TO }),
    fingerprintUnder: () => 'hash',
    fingerprintVersion: 1,
    instrument: instrument(),
    keyParam: 'Idempotency-Key',
  });
  await commands.execute(PAYMENT, STREAM, create, why(ACCOUNT_ID));
  isOpen = true;
  return { provider, process: apart ? newProcess : () => shared };
};

/** Returns the merchant’s answer. `unknown` stands for a 503. */
const cancel = async ({ provider, process }: World): Promise<'cancelled' | 'too late' | 'unknown'> => {
  const needs = { ...process(), providers: provider };
  const canceller = new Canceller({ ...needs, settler: new Settler(needs) });
  let answer: 'cancelled' | 'too late' | 'unknown';
  try {
    const done = await cancelPayment({ ...needs, canceller })(TENANT, PAYMENT_ID, { actor: 'key:1', requestId: 'r1' });
    if (!isRejection(done)) expect(transactionStatus(done)).to.equal('CANCELLED');
    else expect(done.code).to.be.oneOf(['transaction_not_cancellable', 'service_unavailable']);
    answer = !isRejection(done) ? 'cancelled' : done.code === 'service_unavailable' ? 'unknown' : 'too late';
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    answer = 'unknown';
  }
  await untilKnown(() => canceller.run(PAYMENT_ID)); // the work of its timer
  return answer;
};

/** Returns whether the bank accepted the payment. */
const pay = async ({ provider, process }: World, { paid, amount, lock }: Story, step: Step): Promise<boolean> => {
  const needs = {
    ...process(),
    providers: provider,
    alerts: { returnRefused: () => undefined },
  };
  await step('pay');
  if (provider.cancelled.has(`${TXID} PIX`)) return false;
  const pix = incoming({
    paidAt: paid === 'late' ? addSeconds(EXPIRES_AT, 1) : addSeconds(EXPIRES_AT, -1),
    ...(amount === 'wrong' && { amount: toMinor(1) }),
    ...(lock === 'nobody named' && { payer: { name: null, document: null } }),
  });
  provider.incomingPayments.set(TXID, [pix]);
  await step('notified');
  await untilKnown(async () => void (await new Settler(needs).settle(PAYMENT_ID, plain(pix))));
  await untilKnown(() => sendBack(needs)({ paymentId: PAYMENT_ID, providerPaymentId: pix.providerPaymentId }));
  return true;
};

const expire = async ({ provider, process }: World): Promise<void> => {
  const needs = { ...process(), providers: provider };
  const work = expireCharge({ ...needs, settler: new Settler(needs) });
  await untilKnown(() => work({ paymentId: PAYMENT_ID }));
};

/** Returns the ledger balances and the canonical messages in order. */
const consequencesOf = async ({ process }: World) => {
  const { commands } = process();
  const balances: Record<string, number> = {};
  const events: PaymentEvent['type'][] = [];
  const told: (readonly [type: string, status: unknown])[] = [];
  let payment: ExistingPayment | undefined;
  for await (const { before, event, after } of commands.loadSteps(PAYMENT, STREAM)) {
    events.push(event.type);
    const postings = journalEntry(event)?.postings ?? [];
    expect(postings.reduce((sum, posting) => sum + posting.amount, 0)).to.equal(0);
    for (const { account, amount } of postings) balances[account] = (balances[account] ?? 0) + amount;
    payment = assertExists(after);
    for (const { type, family, render } of messagesOf(before, event, after)) {
      const { data } = JSON.parse(render('0'.repeat(26) as never)) as {
        data: { object?: { status: unknown }; status?: unknown };
      };
      if (family === 'canonical') told.push([type, data.object?.status]);
    }
  }
  const owed = balances['payer_returns'] ?? 0;
  return { payment: payment as ExistingPayment, events, told, credited: balances['merchant_available'] ?? 0, owed };
};

const AMOUNT = 12_345;
const ENDS = {
  PAID: { told: ['charge.paid', 'paid'], isCredited: true, owed: 0, incoming: 'settled' },
  CANCELLED: { told: ['charge.failed', 'cancelled'], isCredited: false, owed: 0, incoming: 'returned' },
  EXPIRED: { told: ['charge.expired', 'expired'], isCredited: false, owed: 0, incoming: 'returned' },
  // The charge expired before the timely Pix was reported, and the Pix is held.
  PROCESSING: { told: ['charge.expired', 'expired'], isCredited: false, owed: AMOUNT, incoming: 'held' },
} as const;

const judge = async (world: World, told: Awaited<ReturnType<typeof cancel>>, taken: boolean): Promise<string> => {
  const { payment, events, told: messages, credited, owed } = await consequencesOf(world);
  const status = transactionStatus(payment) as keyof typeof ENDS;
  expect(ENDS).to.have.any.keys(status);
  // One action wins, and the others report it.
  if (told !== 'unknown') expect(told, status).to.equal(status === 'CANCELLED' ? 'cancelled' : 'too late');
  if (!taken) expect(status).to.not.equal('PAID');
  const decisive = events.filter((type) => /^(ChargeCancelled|TransactionSettled)$/.test(type));
  expect(decisive.length, events.join()).to.be.at.most(1);
  // The money belongs to the merchant if the payment is paid. Otherwise it is returned to the payer or held.
  const end = ENDS[status];
  expect([credited > 0, owed]).to.deep.equal([end.isCredited, end.owed]);
  for (const { outcome } of payment.transaction.incomingPayments) expect(outcome).to.equal(end.incoming);
  // The last message matches the final status. Only an expiry can precede it, if a timely payment was reported late.
  expect(messages.at(-1)).to.deep.equal(end.told);
  const earlier = messages.slice(1, -1);
  expect(earlier.filter(([type]) => type !== 'charge.expired')).to.deep.equal([]);
  return status;
};

describe('cancellation, payment and expiry at the same time', () => {
  it(`have one winner, and the answers, money and webhooks agree with it in ${RUNS} interleavings`, async () => {
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), story, async (scheduler, told) => {
        let steps = 0;
        const step: Step = async (what) => {
          if (++steps > STEPS_MAX) throw new Error(`no end after ${STEPS_MAX} steps: ${what}`);
          await scheduler.schedule(Promise.resolve(), what);
        };
        const world = await openWorld(told, step);
        const all = Promise.all([cancel(world), pay(world, told, step), expire(world)]);
        const [answer, taken] = await scheduler.waitFor(all);
        // A held Pix is returned once its cancellation is recorded, whichever action finished first.
        const back = sendBack({
          ...world.process(),
          providers: world.provider,
          alerts: { returnRefused: () => undefined },
        });
        await scheduler.waitFor(
          untilKnown(() => back({ paymentId: PAYMENT_ID, providerPaymentId: incoming().providerPaymentId })),
        );
        ends.add(await scheduler.waitFor(judge(world, answer, taken)));
      }),
      { numRuns: RUNS },
    );
    expect([...ends]).to.include.members(['CANCELLED', 'EXPIRED', 'PAID']);
  });
});
