import { expect } from 'chai';
import { CommandContention } from '../../../application/core/commandHandler.ts';
import { AppendOutcomeUnknown } from '../../../application/ports/eventStore.ts';
import { ACCOUNT, advanceTestClock } from '../../../domain/account/account.ts';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { AccountId, KeyId, PaymentId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { type ApiKey, issueKey, KEYRING, keyring } from '../../../domain/keyring/keyring.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import { expire } from '../../../domain/payment/lifecycle.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { at, CREATED_AT, EXPIRES_AT, instrument, terms } from '../../support/samples.ts';

const keyOf = (accountId: AccountId, fingerprint: string): ApiKey => ({
  keyId: fingerprint.padStart(26, '0') as KeyId,
  accountId,
  mode: 'test',
  fingerprint,
  prefix: 'ak_test_abcd',
  label: null,
  issuedAt: CREATED_AT,
});
const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => {
      throw new Error(`did not throw: ${JSON.stringify(value)}`);
    },
    (error: Error) => error,
  );

describe('the command handler on Postgres', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  afterEach(() => Object.assign(core.spies, { beforeAppend: null, afterAppend: null, onRead: null }));

  const issue = (accountId: AccountId, fingerprint: string) =>
    core.commands.execute(KEYRING, KEYRING.stream(accountId), issueKey(keyOf(accountId, fingerprint)), why(accountId));
  const fingerprintsOf = async (accountId: AccountId) =>
    (await core.eventsOf(KEYRING.stream(accountId))).map((event) =>
      event.type === 'ApiKeyIssued' ? event.data.fingerprint : event.type,
    );
  const issueElsewhere = (accountId: AccountId, fingerprint: string) =>
    core
      .anotherProcess()
      .execute(KEYRING, KEYRING.stream(accountId), issueKey(keyOf(accountId, fingerprint)), why(accountId));
  const create = (paymentId: PaymentId, hash: string) =>
    core.commands.execute(
      PAYMENT,
      PAYMENT.stream(paymentId),
      createCharge({
        terms: terms({ paymentId, accountId: core.account.accountId }),
        fingerprintUnder: () => hash,
        fingerprintVersion: 1,
        instrument: instrument(),
        keyParam: 'Idempotency-Key',
      }),
      why(core.account.accountId),
      { creates: true },
    );

  it('appends the decided events and returns the resulting state', async () => {
    const accountId = newId<AccountId>();
    const key = keyOf(accountId, 'a');
    const done = await core.commands.execute(KEYRING, KEYRING.stream(accountId), issueKey(key), why(accountId));
    if (isRejection(done)) throw new Error(done.message);
    const { position, ...rest } = done;
    const state = fold(keyring, [{ type: 'ApiKeyIssued', data: key }]);
    expect(rest).to.deep.equal({ state, revision: 0, reply: key, appended: 1 });
    expect(position).to.equal(await core.store.head());
    expect(await core.eventsOf(KEYRING.stream(accountId))).to.deep.equal([{ type: 'ApiKeyIssued', data: key }]);
  });

  describe('with a stream at its event limit', () => {
    const full = { ...KEYRING, changesMax: 3 };
    const limited = { isLimited: true };
    const keyIn = (accountId: AccountId, fingerprint: string, terms?: { isLimited: boolean }, of = core.commands) =>
      of.execute(full, KEYRING.stream(accountId), issueKey(keyOf(accountId, fingerprint)), why(accountId), terms);
    const codeOf = (done: Awaited<ReturnType<typeof keyIn>>) => (isRejection(done) ? done.code : 'done');

    it('rejects limited commands that would add events, in every process, but accepts repeats and unlimited commands', async () => {
      const accountId = newId<AccountId>();
      for (const fingerprint of ['a', 'b', 'c'])
        expect(codeOf(await keyIn(accountId, fingerprint, limited))).to.equal('done');
      for (const commands of [core.commands, core.anotherProcess()]) {
        expect(codeOf(await keyIn(accountId, 'd', limited, commands))).to.equal('change_limit_reached');
        expect(codeOf(await keyIn(accountId, 'c', limited, commands))).to.equal('done');
      }
      expect(await fingerprintsOf(accountId)).to.deep.equal(['a', 'b', 'c']);
      expect(codeOf(await keyIn(accountId, 'd'))).to.equal('done');
      expect(codeOf(await keyIn(accountId, 'e', { isLimited: false }))).to.equal('done');
      expect(codeOf(await keyIn(accountId, 'f', limited))).to.equal('change_limit_reached');
      expect(await fingerprintsOf(accountId)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    });
    it('limits the streams that merchants and users can change indefinitely', () => {
      const limits = AGGREGATES.flatMap(({ category, ...one }) =>
        'changesMax' in one ? [[category, one.changesMax] as const] : [],
      );
      expect(Object.fromEntries(limits)).to.deep.equal({
        account: 20_000,
        keyring: 5_000,
        webhookEndpoint: 2_000,
        user: 1_000,
        webhookDelivery: 500,
        medCase: 200,
      });
    });
  });

  it('decides again on events that another process appended in the meantime', async () => {
    const accountId = newId<AccountId>();
    await issue(accountId, 'first');
    let isFirst = true;
    core.spies.beforeAppend = async () => {
      if (!isFirst) return;
      isFirst = false;
      await issueElsewhere(accountId, 'theirs');
    };
    const done = await issue(accountId, 'mine');
    if (isRejection(done)) throw new Error(done.message);
    expect([done.revision, done.appended]).to.deep.equal([2, 1]);
    expect(await fingerprintsOf(accountId)).to.deep.equal(['first', 'theirs', 'mine']);
  });

  it('appends nothing if another process has already done the same', async () => {
    const accountId = newId<AccountId>();
    core.spies.beforeAppend = async () => {
      core.spies.beforeAppend = null;
      await issueElsewhere(accountId, 'same');
    };
    const done = await issue(accountId, 'same');
    if (isRejection(done)) throw new Error(done.message);
    expect([done.revision, done.appended]).to.deep.equal([0, 0]);
    expect(await fingerprintsOf(accountId)).to.deep.equal(['same']);
  });

  it('throws CommandContention after 10 conflicts, without appending', async () => {
    const accountId = newId<AccountId>();
    let attempts = 0;
    core.spies.beforeAppend = async () => {
      attempts++;
      await issueElsewhere(accountId, `theirs ${attempts}`);
    };
    expect(await thrown(issue(accountId, 'mine'))).to.be.instanceOf(CommandContention);
    expect(attempts).to.equal(10);
    expect(await fingerprintsOf(accountId)).to.deep.equal(Array.from({ length: 10 }, (_, i) => `theirs ${i + 1}`));
  });

  it('queues commands on the same stream so that they don’t conflict', async () => {
    const accountId = newId<AccountId>();
    let appends = 0;
    core.spies.beforeAppend = async () => {
      appends++;
    };
    const names = Array.from({ length: 12 }, (_, i) => `k${i}`);
    await Promise.all(names.map((name) => issue(accountId, name)));
    expect(appends).to.equal(12);
    expect(await fingerprintsOf(accountId)).to.deep.equal(names);
  });

  it('creates a stream without reading it', async () => {
    const reads: string[] = [];
    core.spies.onRead = (stream) => reads.push(stream);
    const done = await create(newId<PaymentId>(), 'hash');
    expect(isRejection(done) || done.reply).to.equal('created');
    expect(reads).to.deep.equal([]);
  });

  it('reads a stream that another process created, and replays or rejects the creation', async () => {
    const paymentId = await core.openCharge();
    const elsewhere = newId<PaymentId>();
    const decide = createCharge({
      terms: terms({ paymentId: elsewhere, accountId: core.account.accountId }),
      fingerprintUnder: () => 'hash',
      fingerprintVersion: 1,
      instrument: instrument(),
      keyParam: 'Idempotency-Key',
    });
    await core
      .anotherProcess()
      .execute(PAYMENT, PAYMENT.stream(elsewhere), decide, why(core.account.accountId), { creates: true });
    for (const id of [paymentId, elsewhere]) {
      const same = await create(id, 'hash');
      expect(isRejection(same) ? same.code : [same.reply, same.appended, same.revision]).to.deep.equal([
        'replayed',
        0,
        1,
      ]);
      const other = await create(id, 'another hash');
      expect(isRejection(other) && other.code).to.equal('idempotency_key_reused');
    }
  });

  it('never replies from a stale cached state', async () => {
    const paymentId = await core.openCharge();
    const stream = PAYMENT.stream(paymentId);
    const account = why(core.account.accountId);
    await core.anotherProcess().execute(PAYMENT, stream, expire(EXPIRES_AT), account);
    const reads: string[] = [];
    core.spies.onRead = (name) => reads.push(name);
    const nothing = await core.commands.execute(PAYMENT, stream, expire(at('13:30:00')), account);
    if (isRejection(nothing)) throw new Error(nothing.message);
    expect([nothing.reply, nothing.revision, nothing.state.charge.status]).to.deep.equal(['nothing', 2, 'expired']);
    expect(reads).to.deep.equal([stream]);
  });

  it('never rejects from a cached state without reading', async () => {
    const reads: string[] = [];
    core.spies.onRead = (name) => reads.push(name);
    const { accountId } = core.account;
    const tooFar = advanceTestClock(10 ** 10, CREATED_AT);
    const refused = await core.commands.execute(ACCOUNT, ACCOUNT.stream(accountId), tooFar, why(accountId));
    expect(isRejection(refused) && refused.code).to.equal('invalid_request');
    expect(reads).to.deep.equal([ACCOUNT.stream(accountId)]);
  });

  it('passes on an unknown outcome, and a repeat finds the appended events', async () => {
    const accountId = newId<AccountId>();
    core.spies.afterAppend = async () => {
      throw new AppendOutcomeUnknown('connection lost');
    };
    expect(await thrown(issue(accountId, 'a'))).to.be.instanceOf(AppendOutcomeUnknown);
    core.spies.afterAppend = null;
    const again = await issue(accountId, 'a');
    expect(isRejection(again) || [again.appended, again.revision]).to.deep.equal([0, 0]);
    expect(await fingerprintsOf(accountId)).to.deep.equal(['a']);
  });

  it('uses new event ids for every execution of a command', async () => {
    const ids: string[] = [];
    core.spies.beforeAppend = async (_stream, events) => void ids.push(...events.map(({ id }) => id));
    const key = keyOf(newId<AccountId>(), 'same');
    for (const accountId of [newId<AccountId>(), newId<AccountId>()])
      await core.commands.execute(KEYRING, KEYRING.stream(accountId), issueKey(key), why(accountId));
    expect(ids).to.have.length(2);
    expect(new Set(ids).size).to.equal(2);
  });

  it('returns the states before and after an event, or null if the event does not exist', async () => {
    const paymentId = await core.openCharge();
    const step = await core.commands.loadStep(PAYMENT, PAYMENT.stream(paymentId), 1);
    expect([step?.before.charge.status, step?.event.type, step?.after.charge.status]).to.deep.equal([
      'requested',
      'ChargePixIssued',
      'open',
    ]);
    expect(await core.commands.loadStep(PAYMENT, PAYMENT.stream(paymentId), 2)).to.equal(null);
  });

  it('decides again if the cache was cleared between the decision and the append', async () => {
    const paymentId = await core.openCharge();
    const stream = PAYMENT.stream(paymentId);
    const seen: string[] = [];
    const decide = expire(EXPIRES_AT);
    const outcome = await core.commands.execute(
      PAYMENT,
      stream,
      (state) => {
        seen.push(state.charge.status);
        if (seen.length === 1) core.commands.forgetAll();
        return decide(state);
      },
      why(core.account.accountId),
    );
    expect(outcome).to.include({ appended: 1, revision: 2 });
    expect(seen).to.deep.equal(['open', 'open']);
  });

  it('drops a cached state only if it is older than the given revision', async () => {
    const paymentId = await core.openCharge();
    const stream = PAYMENT.stream(paymentId);
    await core.anotherProcess().execute(PAYMENT, stream, expire(EXPIRES_AT), why(core.account.accountId));
    const recent = async () => (await core.commands.loadRecent(PAYMENT, stream)).revision;
    core.commands.forget(stream, 1);
    expect(await recent()).to.equal(1);
    core.commands.forget(stream, 2);
    expect(await recent()).to.equal(2);
  });
});
