// Races of request, cancellation, approval, rejection, outcome and release, in pairs: in any order of their steps, one of them wins, the
// other reports it, and the money agrees with it (rules Y2, Y4, Y5). The processes share only a log and a bank.

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { CommandHandler, StreamUnreadable } from '../../../application/core/commandHandler.ts';
import { cancelPayout, reviewPayout } from '../../../application/payouts/changePayout.ts';
import { freeCutOffRequests } from '../../../application/payouts/cutOffRequests.ts';
import { PayoutExecutor } from '../../../application/payouts/payoutExecution.ts';
import { PayoutRequests } from '../../../application/payouts/requestPayout.ts';
import { UnreadableEvent } from '../../../application/ports/eventCodec.ts';
import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { PayoutFunds, Reservation } from '../../../application/ports/payoutFunds.ts';
import { ACCOUNT, type OpenAccount, openAccount } from '../../../domain/account/account.ts';
import { changeSandboxSettings } from '../../../domain/account/settings.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { toMillis } from '../../../domain/kernel/time.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import type { PayoutEvent, PayoutId } from '../../../domain/payout/payout.ts';
import { payoutPostings } from '../../../domain/payout/postings.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { SOMEONE } from '../../domain/payout/samples.ts';
import { why } from '../../support/core.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { ACCOUNT_ID, CREATED_AT } from '../../support/samples.ts';
import { FakeRail, railsOf } from '../../world/fakeRail.ts';
import { memoryEventStore } from '../../world/memoryEventStore.ts';
import { memoryTimers } from '../../world/memoryTimers.ts';

/** `npm run soak -- payouts` sets 300. */
const RUNS = Number(process.env.RUNS ?? 15);
const STEPS_MAX = 20_000;
const TENANT = { accountId: ACCOUNT_ID, mode: 'test' } as const;
const BODY = { amount: 1_000, destination: { pix_key: 'ana@example.com' } } as const;
/** Enough for one payout, but not for two. */
const AVAILABLE = 1_999;
const TAKEN = BODY.amount + 50;

type Step = (what: string) => Promise<void>;
type Answer = 'done' | Rejection['code'];

/** One wallet without new postings in the ledger, so only the reservations count. */
const fundsOf = (step: Step): PayoutFunds => {
  const rows = new Map<PayoutId, { readonly taken: number; readonly reservation: Reservation }>();
  let tokens = 0;
  return {
    reserve: async ({ payoutId, accountId, mode, amount, fee }) => {
      await step('reserve');
      const taken = [...rows].reduce((sum, [id, row]) => (id === payoutId ? sum : sum + row.taken), 0);
      if (taken + amount + fee > AVAILABLE) return 'insufficient';
      rows.set(payoutId, { taken: amount + fee, reservation: { payoutId, accountId, mode, token: String(++tokens) } });
      return 'reserved';
    },
    forgetPosted: async () => undefined,
    olderThan: async () => {
      await step('look for cut-off requests');
      return [...rows.values()].map(({ reservation }) => reservation);
    },
    release: async ({ payoutId, token }) => {
      await step('release');
      if (rows.get(payoutId)?.reservation.token === token) rows.delete(payoutId);
    },
  };
};

interface World {
  readonly rail: FakeRail;
  readonly account: OpenAccount;
  readonly funds: PayoutFunds;
  readonly newProcess: () => { readonly commands: CommandHandler; readonly accounts: Accounts };
  readonly lateSteps: { isOpen: boolean };
}

const openWorld = async (step: Step, awaitsApproval: boolean): Promise<World> => {
  const lateSteps = { isOpen: false };
  const turn: Step = async (what) => void (lateSteps.isOpen && (await step(what)));
  const store = memoryEventStore(turn);
  const rail = new FakeRail();
  rail.beforePay = () => turn('pay');
  const newProcess = () => {
    const commands = new CommandHandler({
      store,
      codec: testCodec(),
      randomness: systemRandomness,
      stopwatch: systemStopwatch,
    });
    return { commands, accounts: new Accounts(commands, { now: () => toMillis(CREATED_AT) }, DECLARED_SETTINGS) };
  };
  const { commands, accounts } = newProcess();
  const opening = { accountId: ACCOUNT_ID, name: 'Loja', email: 'l@example.com', idSeed: 'c2VlZA==', at: CREATED_AT };
  const stream = ACCOUNT.stream(ACCOUNT_ID);
  await commands.execute(ACCOUNT, stream, openAccount(opening, DECLARED_SETTINGS.settings), why(ACCOUNT_ID));
  const approval = { payoutApproval: { above: awaitsApproval ? toMinor(0) : null } };
  await commands.execute(
    ACCOUNT,
    stream,
    changeSandboxSettings(approval, CREATED_AT, DECLARED_SETTINGS.switches),
    why(ACCOUNT_ID),
  );
  return { rail, account: await accounts.get(ACCOUNT_ID), funds: fundsOf(turn), newProcess, lateSteps };
};

const answerOf = (done: unknown): Answer => (isRejection(done) ? done.code : 'done');

const request = async (
  { rail, account, funds, newProcess }: World,
  idempotencyKey: string,
  issuer: UnreadableEvent | null = null,
) => {
  const requests = new PayoutRequests({
    ...newProcess(),
    stopwatch: systemStopwatch,
    payoutRails: railsOf(rail),
    payoutFunds: funds,
    keyIssuers: { issuerOf: async () => issuer },
    caughtUp: async () => ({ head: null, isCaughtUp: true }),
  });
  const by = { actor: 'key:0123456789abcdef', requestId: 'r1' };
  return requests.request({ account, mode: 'test', idempotencyKey, body: BODY, ...by });
};

/** Repeats the work, as the queue does, until the bank has answered. */
const execute = async ({ rail, newProcess }: World, id: PayoutId): Promise<void> => {
  const executor = new PayoutExecutor({
    ...newProcess(),
    payoutRails: railsOf(rail),
    timers: memoryTimers(),
  });
  for (let i = 0; i < 4; i++) {
    await executor.run(id);
    await setImmediate(); // lets the pause of a command after a conflict end
  }
};

const by = { actor: `user:usr_${SOMEONE}`, requestId: 'r2', userId: SOMEONE };
const ACTIONS: { readonly [name: string]: (world: World, id: PayoutId) => Promise<Answer | null> } = {
  request: async (world) => answerOf(await request(world, 'the-same-key')),
  'another request': async (world) => answerOf(await request(world, 'another-key')),
  cancel: async (world, id) => answerOf(await cancelPayout(world.newProcess())(TENANT, id, by)),
  approve: async (world, id) =>
    answerOf(await reviewPayout(world.newProcess())(ACCOUNT_ID, id, { verdict: 'approved' }, by)),
  reject: async (world, id) =>
    answerOf(await reviewPayout(world.newProcess())(ACCOUNT_ID, id, { verdict: 'rejected', reason: null }, by)),
  execute: async (world, id) => {
    await execute(world, id);
    return null;
  },
  'free cut-off requests': async ({ newProcess, funds }) => {
    await freeCutOffRequests({ ...newProcess(), payoutFunds: funds }, 0);
    return null;
  },
};

/** The event that a successful answer of the action stands for, and the answer if another action was faster. */
const DECISIVE = [
  ['cancel', 'PayoutCancelled', 'payout_not_cancellable'],
  ['approve', 'PayoutApproved', 'payout_not_awaiting_approval'],
  ['reject', 'PayoutRejected', 'payout_not_awaiting_approval'],
] as const;

const eventsOf = async (world: World, id: PayoutId): Promise<readonly PayoutEvent[]> => {
  const events: PayoutEvent[] = [];
  for await (const { event } of world.newProcess().commands.loadSteps(PAYOUT, PAYOUT.stream(id))) events.push(event);
  return events;
};

/**
 * Checks that the payout has at most one end, that the wallet lacks its money only while it is open or paid, and that a payout sent to the
 * bank was not cancelled. Returns the types of its events.
 */
const judge = async (world: World, id: PayoutId): Promise<readonly string[]> => {
  const events = await eventsOf(world, id);
  const types = events.map(({ type }) => type);
  const ends = types.filter((type) => /Cancelled|Rejected|Paid|Failed/.test(type));
  expect(ends.length, types.join()).to.be.at.most(1);
  expect(types.filter((type) => type === 'PayoutRequested').length).to.be.at.most(1);
  if (world.rail.orders.has(id)) expect(types).to.not.include.members(['PayoutCancelled']);
  if (world.rail.orders.has(id)) expect(types).to.include('PayoutSubmitted');
  const sums: { [account: string]: number } = {};
  for (const event of events)
    for (const { account, amount } of payoutPostings.entryOf(event)?.postings ?? [])
      sums[account] = (sums[account] ?? 0) + amount;
  expect(Object.values(sums).reduce((sum, amount) => sum + amount, 0)).to.equal(0);
  const isTaken = types.includes('PayoutRequested') && (ends.length === 0 || ends[0] === 'PayoutPaid');
  expect(sums.merchant_available ?? 0, types.join()).to.equal(isTaken ? -TAKEN : 0);
  return types;
};

const NAMES = Object.keys(ACTIONS);
const PAIRS = NAMES.flatMap((one, i) => NAMES.slice(i).map((other) => [one, other] as const));

describe('a payout that needs approval', () => {
  it('is neither recorded nor charged if the issuer of its key can’t be read (Y5)', async () => {
    const world = await openWorld(async () => undefined, true);
    const event = { stream: 'keyring-x', revision: 3 } as unknown as RecordedEvent;
    const failure = await request(world, 'a-key', new UnreadableEvent(event, new Error('damaged'))).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(StreamUnreadable).and.have.property('message', 'keyring-x@3: damaged');
    const again = await request(world, 'a-key');
    if (isRejection(again)) throw new Error(again.message);
    expect(await judge(world, again.payout.terms.payoutId)).to.deep.equal(['PayoutRequested']);
  });
});

describe('pairs of concurrent payout actions', () => {
  for (const [one, other] of PAIRS)
    it(`${one} and ${other}: the answers agree with the events and the money in ${RUNS} interleavings`, async function run() {
      this.timeout(600_000);
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), fc.boolean(), fc.boolean(), async (scheduler, isThere, isConfirmed) => {
          let steps = 0;
          const step: Step = async (what) => {
            if (++steps > STEPS_MAX) throw new Error(`no end after ${STEPS_MAX} steps: ${what}`);
            await scheduler.schedule(Promise.resolve(), what);
          };
          const isReviewed = [one, other].some((name) => name === 'approve' || name === 'reject');
          const world = await openWorld(step, isReviewed);
          world.rail.answer = isConfirmed ? { kind: 'confirmed', endToEndId: 'E1' } : { kind: 'unknown' };
          // The id is the same in every world, because the seed and the key are the same.
          const asked = await request(await openWorld(step, isReviewed), 'the-same-key');
          if (isRejection(asked)) throw new Error(asked.message);
          const { payoutId: id } = asked.payout.terms;
          if (isThere) expect(answerOf(await request(world, 'the-same-key'))).to.equal('done');
          world.lateSteps.isOpen = true;
          const both = [one, other].map((name) => (ACTIONS[name] as (typeof ACTIONS)[string])(world, id));
          const answers = await scheduler.waitFor(Promise.all(both));
          world.lateSteps.isOpen = false;
          const types = await judge(world, id);
          const answersOf = (name: string) => answers.filter((_, i) => [one, other][i] === name);
          for (const [name, event, refusal] of DECISIVE) {
            const heard = answersOf(name).filter((answer) => isThere || answer !== 'not_found');
            // A cancellation is idempotent, a review is not.
            const won = !types.includes(event) ? 0 : name === 'cancel' ? heard.length : 1;
            const expected = heard.map((_, i) => (i < won ? 'done' : refusal));
            expect(heard.toSorted(), types.join()).to.deep.equal(expected);
          }
          // A payout that was there is taken by one of the two, or by the bank.
          if (isThere && DECISIVE.some(([name]) => name === one || name === other))
            expect(
              types.some((type) => /Cancelled|Approved|Rejected|Submitted/.test(type)),
              types.join(),
            ).to.equal(true);
          for (const answer of answersOf('request')) {
            expect(answer).to.be.oneOf(['done', 'service_unavailable', 'insufficient_funds']);
            if (answer === 'done') expect(types).to.include('PayoutRequested');
          }
          // Two requests never both succeed if the money covers only one.
          const granted = answers.filter((answer, i) => answer === 'done' && /request/.test([one, other][i] as string));
          if (one === 'request' && other === 'another request' && !isThere) expect(granted.length).to.be.at.most(1);
        }),
        { numRuns: RUNS },
      );
    });
});
