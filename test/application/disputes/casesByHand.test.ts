// Operators open and rule cases for connections that don’t report disputes (issue 20, item 9).
import { expect } from 'chai';
import { answerCase } from '../../../application/disputes/answerCase.ts';
import { openCaseByHand, ruleCaseByHand } from '../../../application/disputes/casesByHand.ts';
import { Settler } from '../../../application/payments/settle.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import type { MedCase } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { incoming, plain, SETTLED_AT } from '../../support/samples.ts';

const BY = { actor: 'operator:ana', requestId: null } as const;

describe('dispute cases entered by operators, on Postgres', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    core.clock.nowMs = toMillis(SETTLED_AT);
    core.provider.forget();
    core.provider.disputes = null;
  });
  afterEach(() => {
    core.provider.disputes = core.provider;
    core.spies.beforeAppend = null;
  });

  const needs = () => ({
    ...{ commands: core.commands, accounts: core.accounts, providers: core.provider },
    alerts: { disputeReport: () => undefined },
  });
  const paid = async (mode: 'test' | 'live' = 'live') => {
    const paymentId = await core.openCharge({ txid: newId(), mode });
    await new Settler(needs()).settle(paymentId, plain(incoming({ providerPaymentId: `E${newId()}` })));
    return paymentId;
  };
  const open = (id: PaymentId, amount = 12_345, reason = 'letter of the bank') =>
    openCaseByHand(needs())(id, { amount: toMinor(amount), reason }, BY);
  const opened = async (id: PaymentId): Promise<MedCase> => {
    const done = await open(id);
    if (isRejection(done)) throw new Error(done.code);
    return done;
  };
  const rule = (id: MedCaseId, result: 'agreed' | 'disagreed', returned: number | null = null) =>
    ruleCaseByHand(needs())(id, { result, returnedToPayer: returned === null ? null : toMinor(returned) }, BY);
  const typesOf = async (id: PaymentId) => (await core.eventsOf(PAYMENT.stream(id))).slice(3).map(({ type }) => type);

  it('open once with a deadline, accept an appeal and, when ruled as agreed, are lost with the payer’s share', async () => {
    const id = await paid();
    const medCase = await opened(id);
    expect(medCase).to.deep.include({ status: 'open', held: 12_345, settling: null });
    expect(medCase.terms.responseDeadline).to.equal(addMillis(SETTLED_AT, 3 * DAY_MS));
    expect(await open(id)).to.include({ code: 'charge_not_disputable' });
    const { caseId, accountId, mode } = medCase.terms;
    const appeal = { kind: 'appeal', reason: 'we delivered it' } as const;
    expect(await answerCase(needs())({ accountId, mode }, caseId, appeal, BY)).to.include({ status: 'appealed' });
    expect(await rule(caseId, 'agreed', 345)).to.include({
      status: 'rejected',
      moneyOutcome: 'lost',
      returnedToPayer: 345,
    });
    expect(await rule(caseId, 'agreed', 345)).to.include({ code: 'case_not_open' });
    expect((await typesOf(id)).slice(-2)).to.deep.equal(['TransactionDisputeResolved', 'TransactionDisputeReturned']);
  });
  it('return the money to the merchant when ruled as disagreed, and another case can open', async () => {
    const id = await paid();
    const { terms } = await opened(id);
    expect(await rule(terms.caseId, 'disagreed')).to.include({
      status: 'closed',
      moneyOutcome: 'refunded_to_merchant',
    });
    expect((await opened(id)).terms.caseId).not.to.equal(terms.caseId);
  });
  it('become a mismatch if the amount differs (Q1)', async () => {
    const done = await open(await paid(), 5);
    expect(done).to.deep.include({ status: 'open', held: 0, settling: 'awaited' });
  });
  it('rejects a ruling without an amount until the mismatch is settled', async () => {
    const done = await open(await paid(), 5);
    if (isRejection(done)) throw new Error(done.code);
    const { caseId } = done.terms;
    expect(await rule(caseId, 'agreed')).to.include({ code: 'invalid_amount', param: 'returnedToPayer' });
    expect(await rule(caseId, 'agreed', 5)).to.include({ status: 'rejected', returnedToPayer: 5 });
  });
  it('are completed with the original terms after an interrupted opening', async () => {
    const id = await paid();
    core.spies.beforeAppend = async (stream: string) => {
      if (stream.startsWith(MED_CASE.category)) throw new Error('killed');
    };
    expect(await open(id).catch(({ message }: Error) => message)).to.equal('killed');
    core.spies.beforeAppend = null;
    const done = await open(id, 5, 'other');
    expect(done).to.deep.include({ status: 'open', held: 12_345 });
    expect((done as MedCase).terms.reason).to.equal('letter of the bank');
  });
  it('are rejected for unknown ids, test payments, invalid amounts and providers that report disputes', async () => {
    expect(await open(newId<PaymentId>())).to.include({ code: 'not_found' });
    expect(await rule(newId<MedCaseId>(), 'agreed')).to.include({ code: 'not_found' });
    expect(await open(await paid('test'))).to.include({ code: 'mode_not_allowed' });
    const id = await paid();
    const { caseId } = (await opened(id)).terms;
    expect(await rule(caseId, 'agreed', 12_346)).to.include({ code: 'invalid_amount' });
    expect(await rule(caseId, 'disagreed', 1)).to.include({ code: 'invalid_amount' });
    core.provider.disputes = core.provider;
    expect(await rule(caseId, 'agreed')).to.include({ code: 'invalid_request' });
    expect(await open(await paid())).to.include({ code: 'invalid_request' });
  });
});
