// Crashes at each step of a payout: the next process pays it once, and money reserved for an unrecorded request is released (ADR 0013).

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { Accounts } from '../../../application/core/accounts.ts';
import { CommandHandler, StreamUnreadable } from '../../../application/core/commandHandler.ts';
import { freeCutOffRequests } from '../../../application/payouts/cutOffRequests.ts';
import {
  alertOfLatePayouts,
  PayoutExecutor,
  payoutConfirmedLate,
  payoutExecution,
} from '../../../application/payouts/payoutExecution.ts';
import { PayoutRequests } from '../../../application/payouts/requestPayout.ts';
import { UnreadableEvent } from '../../../application/ports/eventCodec.ts';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import type { PayoutFunds, Reservation } from '../../../application/ports/payoutFunds.ts';
import { ACCOUNT, type OpenAccount, openAccount } from '../../../domain/account/account.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { why } from '../../support/core.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { haveEffectsDone, logged, reactions } from '../../support/reactionLog.ts';
import { ACCOUNT_ID, CREATED_AT } from '../../support/samples.ts';
import { FakeRail, railsOf } from '../../world/fakeRail.ts';
import { memoryEventStore } from '../../world/memoryEventStore.ts';

class Killed extends Error {}

describe('payouts after a crash', () => {
  /** The step at which the process crashes, or null if it does not. */
  let deadly: RegExp | null;
  /** A promise to wait for before such a step. */
  let pausing: { readonly at: RegExp; readonly until: Promise<void> } | null;
  let rows: Map<PayoutId, Reservation>;
  /** When timers for looks at the bank are due. */
  let looks: number[];
  let rail: FakeRail;
  let account: OpenAccount;
  let nowMs: number;
  let store: EventStore;
  let newProcess: () => { readonly commands: CommandHandler; readonly accounts: Accounts };

  const step = async (what: string): Promise<void> => {
    if (pausing?.at.test(what)) await pausing.until;
    if (deadly?.test(what)) throw new Killed(what);
  };
  const funds: PayoutFunds = {
    reserve: async ({ payoutId, accountId, mode }) => {
      rows.set(payoutId, { payoutId, accountId, mode, token: String(Math.random()) });
      return 'reserved';
    },
    forgetPosted: async () => undefined,
    olderThan: async () => [...rows.values()],
    release: async ({ payoutId, token }) => {
      if (rows.get(payoutId)?.token === token) rows.delete(payoutId);
    },
  };

  beforeEach(async () => {
    [deadly, pausing, rows, looks, rail, nowMs] = [null, null, new Map(), [], new FakeRail(), toMillis(CREATED_AT)];
    rail.answer = { kind: 'confirmed', endToEndId: 'E1' };
    rail.beforePay = () => step('pay');
    const memory = memoryEventStore(step);
    store = {
      ...memory,
      append: async (stream, expected, events) => {
        const result = await memory.append(stream, expected, events);
        await step(`recorded ${events.map(({ type }) => type).join(', ')}`);
        return result;
      },
    };
    newProcess = () => {
      const codec = testCodec();
      const commands = new CommandHandler({ store, codec, randomness: systemRandomness, stopwatch: systemStopwatch });
      return { commands, accounts: new Accounts(commands, { now: () => nowMs }, DECLARED_SETTINGS) };
    };
    const { commands, accounts } = newProcess();
    const opening = { accountId: ACCOUNT_ID, name: 'Loja', email: 'l@example.com', idSeed: 'c2VlZA==', at: CREATED_AT };
    await commands.execute(
      ACCOUNT,
      ACCOUNT.stream(ACCOUNT_ID),
      openAccount(opening, DECLARED_SETTINGS.settings),
      why(ACCOUNT_ID),
    );
    account = await accounts.get(ACCOUNT_ID);
  });

  const request = (idempotencyKey = 'the-same-key') =>
    new PayoutRequests({
      ...newProcess(),
      stopwatch: systemStopwatch,
      payoutRails: railsOf(rail),
      payoutFunds: funds,
      keyIssuers: { issuerOf: async () => null },
      caughtUp: async () => ({ head: null, isCaughtUp: true }),
    }).request({
      account,
      mode: 'test',
      idempotencyKey,
      body: { amount: 1_000, destination: { pix_key: 'ana@example.com' } },
      actor: 'key:1',
      requestId: 'r1',
    });
  const run = (id: PayoutId, mayBeRepeat = false) =>
    new PayoutExecutor({
      ...newProcess(),
      payoutRails: railsOf(rail),
      timers: {
        set: async ({ dueAt }) => void looks.push(toMillis(dueAt)),
      },
    }).run(id, undefined, mayBeRepeat);
  const free = () => freeCutOffRequests({ ...newProcess(), payoutFunds: funds }, 0);
  const granted = async (idempotencyKey?: string): Promise<PayoutId> => {
    const done = await request(idempotencyKey);
    if (isRejection(done)) throw new Error(done.message);
    return done.payout.terms.payoutId;
  };
  const typesOf = async (id: PayoutId): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { event } of newProcess().commands.loadSteps(PAYOUT, PAYOUT.stream(id))) types.push(event.type);
    return types;
  };
  const dies = async (at: RegExp, work: () => Promise<unknown>): Promise<void> => {
    deadly = at;
    await work().then(
      () => expect.fail('it lived'),
      (error) => expect(error).to.be.an.instanceOf(Killed),
    );
    deadly = null;
  };

  it('reserve nothing if the issuer of the key can’t be read (Y5)', async () => {
    const { commands, accounts } = newProcess();
    const known = await accounts.get(ACCOUNT_ID);
    const sandbox = { ...known.sandbox, payoutApproval: { above: 0 } };
    Object.assign(accounts, { get: async () => ({ ...known, sandbox }) });
    const unreadable = new UnreadableEvent({ stream: 'keyring-1', revision: 0 } as never, new Error('damaged'));
    const requests = new PayoutRequests({
      ...{ commands, accounts, stopwatch: systemStopwatch, payoutRails: railsOf(rail), payoutFunds: funds },
      keyIssuers: { issuerOf: async () => unreadable },
      caughtUp: async () => ({ head: null, isCaughtUp: true }),
    });
    const body = { amount: 1_000, destination: { pix_key: 'ana@example.com' } };
    const asked = {
      account,
      mode: 'test',
      idempotencyKey: 'the-same-key',
      body,
      actor: 'key:1',
      requestId: 'r1',
    } as const;
    expect(await requests.request(asked).catch((error: unknown) => error)).to.be.an.instanceOf(StreamUnreadable);
    expect(rows.size).to.equal(0);
  });
  it('before the request was recorded release the money, and a repeat is granted', async () => {
    await dies(/append PayoutRequested/, request);
    expect(rows.size).to.equal(1);
    await free();
    expect(rows.size).to.equal(0);
    const id = await granted();
    expect(await typesOf(id)).to.deep.equal(['PayoutAbandoned', 'PayoutRequested']);
    await free();
    expect(rows.size).to.equal(1); // The ledger has not posted it yet.
  });
  it('release the money of other requests if one stream is unreadable, and report the error', async () => {
    const other = 'z'.repeat(26) as PayoutId;
    const unreadable = { id: randomUUID(), type: 'NoSuchEvent', data: '{}', metadata: '{}' };
    await store.append(PAYOUT.stream(other), -1, [unreadable]);
    rows.set(other, { payoutId: other, accountId: ACCOUNT_ID, mode: 'test', token: '1' });
    await dies(/append PayoutRequested/, request);
    expect(rows.size).to.equal(2);
    await free().then(
      () => expect.fail('it said nothing'),
      (error) => expect(error).to.be.an.instanceOf(StreamUnreadable),
    );
    expect([...rows.keys()]).to.deep.equal([other]);
  });
  it('during the release of the money release it once', async () => {
    await dies(/append PayoutRequested/, request);
    await dies(/append PayoutAbandoned/, free);
    await free();
    expect(rows.size).to.equal(0);
  });
  it('with a lost order fail only if the bank refuses the next order 10 minutes later (V7)', async () => {
    const id = await granted();
    rail.losesOrders = true;
    await run(id);
    rail.pay = async () => ({ kind: 'refused', reason: 'The balance is insufficient.' });
    const unknown = ['PayoutRequested', 'PayoutSubmitted', 'PayoutOutcomeUnknown'];
    for (const [ms, types] of [
      [1_000, unknown],
      [10 * MINUTE_MS - 1, unknown],
      [10 * MINUTE_MS, [...unknown, 'PayoutFailed']],
    ] as const) {
      nowMs = toMillis(CREATED_AT) + ms;
      await run(id);
      expect(await typesOf(id)).to.deep.equal(types);
    }
  });
  for (const lost of ['answer', 'process'])
    it(`an hour before the first order, whose ${lost} is lost, fail only if the bank refuses another 10 minutes later (V9)`, async () => {
      const id = await granted();
      // Killed after the submission was recorded and before the bank got the order. No worker runs for an hour.
      await dies(/^recorded PayoutSubmitted/, () => run(id));
      expect(rail.paid).to.equal(0);
      nowMs += HOUR_MS;
      // The bank reserves the money for the first order, lists it late, and refuses another one.
      rail.pay = async () => {
        if (lost === 'process') throw new Killed();
        return { kind: 'unknown' };
      };
      await run(id).catch((error) => expect(error).to.be.an.instanceOf(Killed));
      if (lost === 'process') nowMs += 1_000;
      const countedFrom = nowMs;
      rail.pay = async () => ({ kind: 'refused', reason: 'The balance is too low.' });
      const unknown = ['PayoutRequested', 'PayoutSubmitted', 'PayoutOutcomeUnknown'];
      for (const [ms, types] of [
        [0, unknown],
        [10 * MINUTE_MS - 1, unknown],
        [10 * MINUTE_MS, [...unknown, 'PayoutFailed']],
      ] as const) {
        nowMs = countedFrom + ms;
        await run(id);
        expect(await typesOf(id)).to.deep.equal(types);
      }
    });
  it('of an order sent long after an unanswered look fail only if another one is refused later (V9)', async () => {
    const id = await granted();
    await dies(/^recorded PayoutSubmitted/, () => run(id));
    nowMs += 10_000;
    const { find } = rail;
    rail.find = (async () => ({ kind: 'unknown' })) as never;
    await run(id);
    rail.find = find;
    nowMs += HOUR_MS;
    // The order is sent now, and its process dies. The bank lists it late, and refuses another one.
    rail.pay = async () => {
      throw new Killed();
    };
    await run(id).catch((error) => expect(error).to.be.an.instanceOf(Killed));
    rail.pay = async () => ({ kind: 'refused', reason: 'The balance is too low.' });
    const unknown = ['PayoutRequested', 'PayoutSubmitted', 'PayoutOutcomeUnknown'];
    const repeatedAt = nowMs + 1_000;
    nowMs = repeatedAt;
    await run(id, true);
    expect(await typesOf(id)).to.deep.equal(unknown);
    expect(looks.at(-1)).to.be.at.least(repeatedAt + 10 * MINUTE_MS);
    nowMs = looks.at(-1) as number;
    await run(id);
    expect(await typesOf(id)).to.deep.equal([...unknown, 'PayoutFailed']);
  });
  it('are looked at no earlier than 10 minutes after an order that may have been sent, even at midnight', async () => {
    const id = await granted();
    rail.pay = async () => ({ kind: 'unknown' });
    await run(id);
    const midnight = (Math.floor(nowMs / DAY_MS) + 3) * DAY_MS;
    rail.pay = async () => ({ kind: 'refused', reason: 'The balance is too low.' });
    for (const [beforeMs, lookMs] of [
      [10 * MINUTE_MS + 1, midnight],
      [10 * MINUTE_MS, midnight + DAY_MS],
    ] as const) {
      nowMs = midnight - beforeMs;
      await run(id, true);
      expect(looks.at(-1)).to.equal(lookMs);
    }
  });
  it('or a slow first order don’t fail a payout that the bank accepted from a repeat (V9)', async () => {
    const id = await granted();
    const { promise: late, resolve: arrive } = Promise.withResolvers<void>();
    const sent: number[] = [];
    // The bank lists the order late, and refuses an id that it has.
    rail.find = async () => ({ kind: 'known', value: null });
    rail.pay = async () => {
      const isFirst = sent.push(nowMs - toMillis(CREATED_AT)) === 1;
      if (isFirst) await late;
      return isFirst ? { kind: 'refused', reason: 'idEnvio duplicado' } : { kind: 'processing' };
    };
    const first = run(id);
    while (sent.length === 0) await setImmediate();
    for (const ms of [1_000, 2_999, 3_000]) {
      nowMs = toMillis(CREATED_AT) + ms;
      await run(id);
    }
    expect(sent).to.deep.equal([0, 3_000]);
    arrive();
    await first;
    expect(await typesOf(id)).to.deep.equal(['PayoutRequested', 'PayoutSubmitted', 'PayoutOutcomeUnknown']);
  });
  it('and two processes that submit a payout at once send one order', async () => {
    const id = await granted();
    const { promise, resolve } = Promise.withResolvers<void>();
    pausing = { at: /append PayoutSubmitted/, until: promise };
    const both = Promise.all([run(id), run(id)]);
    resolve();
    await both;
    expect([rail.paid, await typesOf(id)]).to.deep.equal([1, ['PayoutRequested', 'PayoutSubmitted', 'PayoutPaid']]);
  });
  it('fail a payout whose first order the bank refuses within 3 seconds', async () => {
    const id = await granted();
    for (const [ms, last] of [
      [3_000, 'PayoutOutcomeUnknown'],
      [2_999, 'PayoutFailed'],
    ] as const) {
      const one = ms === 3_000 ? id : await granted('another-key');
      const begun = nowMs;
      rail.pay = async () => {
        nowMs = begun + ms;
        return { kind: 'refused', reason: 'The balance is insufficient.' };
      };
      await run(one);
      expect((await typesOf(one)).at(-1)).to.equal(last);
    }
  });
  it('reject a request whose process was suspended until its money was released', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    pausing = { at: /append PayoutRequested/, until: promise };
    const frozen = request();
    while (rows.size === 0) await setImmediate();
    pausing = null;
    const [id] = [...rows.keys()] as [PayoutId];
    await free();
    resolve();
    const done = await frozen;
    expect(isRejection(done) && done.code).to.equal('service_unavailable');
    expect(await typesOf(id)).to.deep.equal(['PayoutAbandoned']);
  });
  for (const at of [/append PayoutSubmitted/, /pay/, /append PayoutPaid/])
    it(`at ${at.source} are paid once by the next run`, async () => {
      const id = await granted();
      await dies(at, () => run(id));
      await run(id);
      await run(id);
      expect(await typesOf(id)).to.deep.equal(['PayoutRequested', 'PayoutSubmitted', 'PayoutPaid']);
      expect(rail.orders.size).to.equal(1);
      expect(rail.paid).to.equal(1);
    });
  for (const at of [/append PayoutConfirmedLate/, /recorded PayoutConfirmedLate/])
    it(`at ${at.source} record the late confirmation once and alert operators`, async () => {
      const id = await granted();
      rail.answer = { kind: 'refused', reason: 'No.' };
      await run(id);
      rail.orders.set(id, { kind: 'confirmed', endToEndId: 'E2' });
      await dies(at, () => run(id));
      await run(id);
      const recorded = ['PayoutRequested', 'PayoutSubmitted', 'PayoutFailed', 'PayoutConfirmedLate'];
      expect(await typesOf(id)).to.deep.equal(recorded);
      const alerted: object[] = [];
      const payoutAlerts = { confirmedLate: (payout: object) => void alerted.push(payout) };
      for await (const { event } of newProcess().commands.loadSteps(PAYOUT, PAYOUT.stream(id))) {
        const of = reactions(payoutExecution, { ...logged('payout', event), subject: id });
        await haveEffectsDone(payoutConfirmedLate.by(alertOfLatePayouts), { payoutAlerts }, of);
      }
      expect(alerted).to.deep.equal([{ payoutId: id, accountId: ACCOUNT_ID, mode: 'test' }]);
    });
});
