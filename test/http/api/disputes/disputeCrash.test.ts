// A dispute’s case and its payment are two streams (ADR 0011). The process dies around each append to either. After the next start, each
// dispute was held once, ended once and reported once.

import { expect } from 'chai';
import { medCaseIdOf } from '../../../../application/core/derivedIds.ts';
import { AppendOutcomeUnknown, EventStoreUnavailable } from '../../../../application/ports/eventStore.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { PaymentId, StreamName } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import type { MedCaseView } from '../../../../domain/presentation/medCase.ts';
import { verify } from '../../../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../../../projections/registry.ts';
import { CaseDesk, netOf, type Wallet } from '../../../world/caseDesk.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { expectLedgerBalances } from '../../../world/ledgerFacts.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const AMOUNT = 1_000;
const PATIENCE_MS = 30_000;
type Step = 'open' | 'accept' | 'win';
/** The append at which the process dies, and whether it was written. */
interface End {
  readonly step: Step;
  readonly type: string;
  readonly isWritten: boolean;
}
const ENDS: readonly End[] = (
  [
    ['open', 'TransactionDisputeOpened'],
    ['open', 'MedCaseOpened'],
    ['open', 'TransactionDisputeUpdated'],
    ['accept', 'MedCaseAccepted'],
    ['accept', 'TransactionDisputeResolved'],
    ['win', 'MedCaseClosed'],
    ['win', 'TransactionDisputeResolved'],
  ] as const
).flatMap(([step, type]) => [false, true].map((isWritten) => ({ step, type, isWritten })));

interface Dispute extends End {
  readonly chargeId: string;
  readonly caseId: string;
}

/** Blocks all appends to the streams from the first append of the type on. Resolves at that append. */
const endAt = ({ storage: { store } }: TestGateway, { type, isWritten }: End, streams: readonly StreamName[]) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const append = store.append.bind(store);
  let isOver = false;
  store.append = async (stream, expected, events) => {
    if (!streams.includes(stream)) return append(stream, expected, events);
    if (!isOver && !events.some((event) => event.type === type)) return append(stream, expected, events);
    const isNow = !isOver;
    isOver = true;
    if (isNow && isWritten) await append(stream, expected, events);
    if (isNow) resolve();
    throw isNow && isWritten ? new AppendOutcomeUnknown('it ended') : new EventStoreUnavailable('it ended');
  };
  return promise;
};

describe('disputes interrupted by a crash', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let merchant: Merchant;
  const disputes: Dispute[] = [];

  const read = (caseId: string) => merchant.get<MedCaseView>(`/v1/med/cases/${caseId}`);
  const post = (path: string, body: Body = {}) => gateway.post<Body>(path, body, merchant);
  const until = async (caseId: string, holds: (medCase: MedCaseView) => boolean): Promise<MedCaseView> => {
    const look = async () => {
      const { status, body } = await read(caseId);
      return status === 200 && holds(body) ? body : null;
    };
    const found = await pollUntil(gateway.gateway.projected, PATIENCE_MS, look);
    expect(found, caseId).to.not.equal(null);
    return found as MedCaseView;
  };

  before(async function run() {
    this.timeout(4 * PATIENCE_MS);
    database = await startedDatabase();
    const first = await openReady({ database });
    const desk = await CaseDesk.open(first);
    const found = await first.gateway.services.findKey(desk.merchant.key);
    if (found === null) throw new Error('the key is not known');
    const account = await first.gateway.accounts.get(found.accountId);
    const cutOff: Promise<unknown>[] = [];
    for (const end of ENDS) {
      const chargeId = await desk.paid(AMOUNT);
      const paymentId = rawIdOf(chargeId) as PaymentId;
      const id = medCaseIdOf(account, 'test', paymentId, chargeId);
      const caseId = `med_${id}`;
      disputes.push({ ...end, chargeId, caseId });
      const open = { provider_case_id: chargeId };
      if (end.step !== 'open') expect((await desk.dispute(chargeId, open)).id).to.equal(caseId);
      const ended = endAt(first, end, [PAYMENT.stream(paymentId), MED_CASE.stream(id)]);
      const asked = {
        open: () => desk.post(`/v1/sandbox/charges/${chargeId}/med`, open),
        accept: () => desk.post(`/v1/med/cases/${caseId}/accept`),
        win: () => desk.post(`/v1/sandbox/med/cases/${caseId}/decide`, { result: 'disagreed' }),
      }[end.step]();
      cutOff.push(asked.catch(() => null));
      await ended;
      // The acceptance was recorded, so it is answered, although the payment was not updated.
      if (end.step === 'accept' && end.type === 'TransactionDisputeResolved')
        expect((await asked).status).to.equal(200);
    }
    await first.close();
    await Promise.all(cutOff);
    gateway = await openReady({ database });
    merchant = new Merchant(gateway, desk.merchant.key);
  });
  after(async () => {
    await gateway?.close();
    await database.drop();
  });

  for (const [n, { step, type, isWritten }] of ENDS.entries())
    it(`${step}, cut off ${isWritten ? 'after' : 'before'} ${type}: held, ended and reported once`, async function run() {
      this.timeout(2 * PATIENCE_MS);
      const { chargeId, caseId } = disputes[n] as Dispute;
      await until(caseId, () => true);
      // The merchant repeats the request that was not answered.
      if (step !== 'win') expect((await post(`/v1/med/cases/${caseId}/accept`)).status).to.be.oneOf([200, 400]);
      const end = await until(caseId, ({ closed_at }) => closed_at !== null);
      expect([end.status, end.money_outcome]).to.deep.equal(
        step === 'win' ? ['closed', 'refunded_to_merchant'] : ['accepted', 'lost'],
      );
      const about = async () =>
        (await merchant.deliveries('?limit=100')).data
          .map(({ payload }) => payload as { type: string; data: { object: Body } })
          .filter(({ data: { object } }) => [object['id'], object['case_id']].includes(caseId))
          .map(({ type: told }) => told)
          .toSorted();
      const told = ['med.resolved', 'med_case.created', 'med_case.updated'];
      await pollUntil(gateway.gateway.projected, PATIENCE_MS, async () =>
        (await about()).length >= told.length ? true : null,
      );
      expect(await about()).to.deep.equal(told);
      const recorded: string[] = [];
      for await (const { type: event } of gateway.storage.store.readStream(
        PAYMENT.stream(rawIdOf(chargeId) as PaymentId),
      ))
        if (event.includes('Dispute')) recorded.push(event);
      expect(recorded).to.deep.equal([
        'TransactionDisputeOpened',
        'TransactionDisputeUpdated',
        'TransactionDisputeUpdated',
        'TransactionDisputeResolved',
      ]);
      expect(await merchant.statusOf(chargeId)).to.equal(step === 'win' ? 'paid' : 'disputed');
    });

  it('leave the right wallet balance, a balanced ledger, and read models equal to a replay', async () => {
    const { available, retained } = (await merchant.get<Wallet>('/v1/wallets/balance')).body;
    const lost = ENDS.filter(({ step }) => step !== 'win').length;
    expect({ available, retained }).to.deep.equal({
      available: ENDS.length * netOf(AMOUNT) - lost * AMOUNT,
      retained: 0,
    });
    await expectLedgerBalances(gateway);
    const { storage } = gateway;
    expect((await verify(PROJECTIONS, storage, storage.openSession)).differences).to.deep.equal([]);
    expect(gateway.faults).to.deep.equal([]);
  });
});
