// contract.md "Dispute case status", row by row: status, money, charge, its metadata, and webhook messages (rules Q1, Q3, Q5, Q8).
import { expect } from 'chai';
import type { MedCaseView } from '../../../../domain/presentation/medCase.ts';
import { CaseDesk, netOf } from '../../../world/caseDesk.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';

const AMOUNT = 1_000;
const NET = netOf(AMOUNT);
const HELD = { available: NET - AMOUNT, retained: AMOUNT };
const LOST = { available: NET - AMOUNT, retained: 0 };
const BACK = { available: NET, retained: 0 };
const CREATED = 'med_case.created';
const UPDATED = 'med_case.updated';
const RESOLVED = 'med.resolved';

/** The steps after the opening, and the expected state afterwards. */
interface Row {
  readonly name: string;
  readonly play: (desk: CaseDesk, id: string) => Promise<MedCaseView>;
  readonly status: MedCaseView['status'];
  readonly outcome: MedCaseView['money_outcome'];
  readonly wallet: { readonly available: number; readonly retained: number };
  readonly charge: 'disputed' | 'paid';
  readonly med: { readonly status: string; readonly result?: string };
  readonly messages: readonly string[];
}
const agreed = { result: 'agreed' };
const disagreed = { result: 'disagreed' };
const notReturned = { result: 'disagreed', returned: false };

const ROWS: readonly Row[] = [
  {
    name: '(none) | dispute opened by the bank | open | debited from the balance, which may go negative, and held',
    play: (desk, id) => desk.read(id),
    status: 'open',
    outcome: null,
    wallet: HELD,
    charge: 'disputed',
    med: { status: 'delivered' },
    messages: [CREATED],
  },
  {
    name: 'open | appeal | appealed | stays held',
    play: (desk, id) => desk.appeal(id),
    status: 'appealed',
    outcome: null,
    wallet: HELD,
    charge: 'disputed',
    med: { status: 'delivered' },
    messages: [CREATED, UPDATED],
  },
  {
    name: 'open | accept | accepted | stays debited, lost',
    play: (desk, id) => desk.accept(id),
    status: 'accepted',
    outcome: 'lost',
    wallet: LOST,
    charge: 'disputed',
    med: { status: 'delivered' },
    messages: [RESOLVED, CREATED, UPDATED],
  },
  {
    name: 'appealed | decision against the merchant | rejected | stays debited, lost',
    play: async (desk, id) => {
      await desk.appeal(id);
      return desk.decide(id, agreed);
    },
    status: 'rejected',
    outcome: 'lost',
    wallet: LOST,
    charge: 'disputed',
    med: { status: 'closed', result: 'agreed' },
    messages: [RESOLVED, CREATED, UPDATED, UPDATED],
  },
  {
    name: 'open | decision against the merchant | rejected | lost (Q3)',
    play: (desk, id) => desk.decide(id, agreed),
    status: 'rejected',
    outcome: 'lost',
    wallet: LOST,
    charge: 'disputed',
    med: { status: 'closed', result: 'agreed' },
    messages: [RESOLVED, CREATED, UPDATED],
  },
  {
    name: 'appealed | closed | closed | refunded_to_merchant: back in the balance',
    play: async (desk, id) => {
      await desk.appeal(id);
      return desk.decide(id, disagreed);
    },
    status: 'closed',
    outcome: 'refunded_to_merchant',
    wallet: BACK,
    charge: 'paid',
    med: { status: 'closed', result: 'disagreed' },
    messages: [RESOLVED, CREATED, UPDATED, UPDATED],
  },
  {
    name: 'appealed | closed | closed | closed_without_refund: not returned, and the charge stays disputed',
    play: async (desk, id) => {
      await desk.appeal(id);
      return desk.decide(id, notReturned);
    },
    status: 'closed',
    outcome: 'closed_without_refund',
    wallet: LOST,
    charge: 'disputed',
    med: { status: 'closed', result: 'disagreed' },
    messages: [RESOLVED, CREATED, UPDATED, UPDATED],
  },
  {
    name: 'appealed | withdrawn by the payer | closed | refunded_to_merchant',
    play: async (desk, id) => {
      await desk.appeal(id);
      return desk.withdraw(id);
    },
    status: 'closed',
    outcome: 'refunded_to_merchant',
    wallet: BACK,
    charge: 'paid',
    med: { status: 'canceled' },
    messages: [RESOLVED, CREATED, UPDATED, UPDATED],
  },
  {
    name: 'open | withdrawn by the payer | closed | refunded_to_merchant',
    play: (desk, id) => desk.withdraw(id),
    status: 'closed',
    outcome: 'refunded_to_merchant',
    wallet: BACK,
    charge: 'paid',
    med: { status: 'canceled' },
    messages: [RESOLVED, CREATED, UPDATED],
  },
  {
    name: 'open | decided in the merchant’s favour before a response | closed | refunded_to_merchant',
    play: (desk, id) => desk.decide(id, disagreed),
    status: 'closed',
    outcome: 'refunded_to_merchant',
    wallet: BACK,
    charge: 'paid',
    med: { status: 'closed', result: 'disagreed' },
    messages: [RESOLVED, CREATED, UPDATED],
  },
  {
    name: 'open | decided under review | open | nothing changes until an operator approves it',
    play: (desk, id) => desk.decide(id, { ...agreed, review: true }),
    status: 'open',
    outcome: null,
    wallet: HELD,
    charge: 'disputed',
    med: { status: 'delivered' },
    messages: [CREATED],
  },
  {
    name: 'open | decided under review, approved | rejected | lost',
    play: async (desk, id) => {
      await desk.decide(id, { ...agreed, review: true });
      return desk.review(id, true);
    },
    status: 'rejected',
    outcome: 'lost',
    wallet: LOST,
    charge: 'disputed',
    med: { status: 'closed', result: 'agreed' },
    messages: [RESOLVED, CREATED, UPDATED],
  },
  {
    name: 'appealed meanwhile | decided under review, refused | appealed | stays held',
    play: async (desk, id) => {
      await desk.decide(id, { ...agreed, review: true });
      await desk.appeal(id);
      return desk.review(id, false);
    },
    status: 'appealed',
    outcome: null,
    wallet: HELD,
    charge: 'disputed',
    med: { status: 'delivered' },
    messages: [CREATED, UPDATED],
  },
];

describe('the dispute case status table (contract.md, Q1, Q3, Q5, Q8)', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());

  for (const { name, play, status, outcome, wallet, charge, med, messages } of ROWS)
    it(name, async () => {
      const desk = await CaseDesk.open(gateway);
      const chargeId = await desk.paid(AMOUNT);
      const payer = { name: 'Ana', document: '99992222263' };
      const opened = await desk.dispute(chargeId, { method: 'scam', reason: 'never came', payer });
      const answered = await play(desk, opened.id);
      expect([answered.status, answered.money_outcome]).to.deep.equal([status, outcome]);
      expect(answered.closed_at === null).to.equal(outcome === null);
      expect(await desk.read(opened.id)).to.deep.equal(answered);
      expect(await desk.wallet()).to.deep.equal(wallet);
      const seen = await desk.chargeOf(chargeId);
      expect(seen.status).to.equal(charge);
      expect(await desk.transactionStatus(chargeId)).to.equal(charge === 'paid' ? 'PAID' : 'DISPUTE');
      const { referenceId, openedAt, updatedAt, closedAt, lastEventAt, ...rest } = seen.med;
      expect(rest).to.deep.equal({
        method: 'scam',
        reason: 'never came',
        payerName: 'Ana',
        payerDocument: '99992222263',
        amountMismatch: false,
        ...med,
      });
      expect(referenceId).to.match(/^E[0-9A-Z]{8}\d{12}[A-Za-z0-9]{11}$/);
      expect(openedAt).to.equal(answered.opened_at);
      expect([updatedAt, closedAt === undefined]).to.deep.equal([closedAt ?? openedAt, med.status === 'delivered']);
      expect(lastEventAt).to.be.a('string');
      expect(await desk.types(messages.length)).to.deep.equal(messages.toSorted());
      const told = await desk.messages(messages.length);
      expect(told.find(({ type }) => type === CREATED)?.object).to.deep.equal(opened);
      const resolved = told.find(({ type }) => type === RESOLVED);
      if (outcome === null) expect(resolved).to.equal(undefined);
      else
        expect(resolved?.object).to.deep.equal({
          object: 'med_resolution',
          case_id: opened.id,
          charge_id: chargeId,
          amount: AMOUNT,
          currency: 'BRL',
          money_outcome: outcome,
          resolved_at: answered.closed_at,
        });
      // In every state, the charge can be refunded only if it is no longer disputed.
      const refund = await desk.desk.ask(chargeId, { amount: 1 });
      if (charge === 'paid') expect(refund.status, refund.text).to.equal(201);
      else expectError(refund, 400, 'charge_disputed');
    });
});
