// A person with more payments than one call returns is found and erased page by page, even if some of it is kept (rules L1, L2).
import { expect } from 'chai';
import { StreamUnreadable } from '../../../application/core/commandHandler.ts';
import { eraseData } from '../../../application/privacy/eraseData.ts';
import { FOUND_MAX, findPerson, type OwnerId } from '../../../application/privacy/findPerson.ts';
import { erasedView } from '../../../application/privacy/heldView.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { type ExistingPayment, payment } from '../../../domain/payment/payment.ts';
import { created, terms } from '../../support/samples.ts';

const PERSON = { document: '39053344705' };
const COUNT = FOUND_MAX + 2;
const idOf = (n: number): PaymentId => `0${String(n).padStart(25, '0')}` as PaymentId;
const customer = { name: null, document: PERSON.document, email: null, phone: null };
const PAYMENTS = Array.from(
  { length: COUNT },
  (_, n) => payment.evolve(payment.initial, created({ ...terms(), paymentId: idOf(n), customer })) as ExistingPayment,
);
const IDS = PAYMENTS.map(({ charge }) => charge.terms.paymentId);

/** On every page, the first item and every second one after it is kept. */
const isKept = (id: string) => IDS.indexOf(id as PaymentId) % 2 === 0;
const judged: string[] = [];
const destroyed: string[] = [];
let unreadable: string | null = null;
const needs = {
  retentionYears: 5,
  accounts: { now: async () => '2026-11-29T00:00:00.000Z' },
  dataKeys: { destroy: async (ids: readonly string[]) => void destroyed.push(...ids) },
  commands: {
    load: async (_: unknown, stream: string) => {
      const found = PAYMENTS.find(({ charge }) => stream.endsWith(charge.terms.paymentId));
      return { state: found ?? payment.initial, revision: 0 };
    },
    execute: async (_: unknown, stream: string) => {
      const id = stream.slice('payment-'.length);
      judged.push(id);
      if (id === unreadable) throw new StreamUnreadable(`${stream}@3`);
      return isKept(id) ? reject('retention_not_passed', 'The data must be kept.') : { reply: 'erased' };
    },
  },
  personalPayments: {
    mentioning: async function* (_: unknown, after: { readonly id: string } | null) {
      yield PAYMENTS.slice(after === null ? 0 : IDS.indexOf(after.id as PaymentId) + 1);
    },
  },
  personalPayouts: { mentioning: async function* () {} },
} as never;
const BY = { actor: 'operator:ana', requestId: null };

describe('pages of a person’s data', () => {
  const pageAfter = async (after: OwnerId | null) => {
    const page = await findPerson(needs)(PERSON, after);
    if (isRejection(page)) throw new Error(page.message);
    return [page.held.map(({ id }) => id), page.next];
  };

  it('end after the last item', async () => {
    expect(await pageAfter(null)).to.deep.equal([IDS.slice(0, FOUND_MAX), { payment: idOf(FOUND_MAX - 1) }]);
    expect(await pageAfter({ payment: idOf(FOUND_MAX - 1) })).to.deep.equal([IDS.slice(FOUND_MAX), null]);
    expect(await pageAfter({ payment: idOf(COUNT - 1) })).to.deep.equal([[], null]);
  });

  it('are rejected if they start after an unknown item', async () => {
    const page = await findPerson(needs)(PERSON, { payment: idOf(COUNT) });
    expect(isRejection(page) && [page.code, page.param]).to.deep.equal(['invalid_cursor', 'startingAfter']);
  });

  it('are processed one after another; each item is erased or kept by itself, even if the first is kept', async () => {
    const order = { reason: 'request 17', despiteRetention: false };
    const outcomes: unknown[] = [];
    for (let after: OwnerId | null = null; ; ) {
      const page = await eraseData(needs)(PERSON, order, BY, after);
      if (isRejection(page)) throw new Error(page.message);
      outcomes.push(...page.erased.map(({ outcome }) => outcome));
      after = page.next;
      if (after === null) break;
    }
    expect(outcomes).to.deep.equal(IDS.map((id) => (isKept(id) ? 'refused' : 'erased')));
    expect([judged, destroyed]).to.deep.equal([IDS, IDS.filter((id) => !isKept(id))]);
    const last = await eraseData(needs)(PERSON, order, BY, { payment: idOf(COUNT - 1) });
    expect(last).to.deep.equal({ erased: [], next: null });
  });

  it('are processed beyond an unreadable item, which is refused', async () => {
    const order = { reason: 'request 17', despiteRetention: false };
    const [before, sick, after] = [COUNT - 4, COUNT - 2, COUNT - 1].map(idOf) as [PaymentId, PaymentId, PaymentId];
    unreadable = sick;
    const page = await eraseData(needs)(PERSON, order, BY, { payment: before });
    if (isRejection(page)) throw new Error(page.message);
    const because = 'An event of its stream can’t be read. Repair it, then erase again.';
    expect(page.erased.slice(-2).map(erasedView)).to.deep.equal([
      { id: `tx_${sick}`, outcome: 'refused', because },
      { id: `tx_${after}`, outcome: 'erased', because: null },
    ]);
    const single = await eraseData(needs)({ payment: sick }, order, BY).catch(({ name }: Error) => name);
    expect(single).to.equal('StreamUnreadable');
  });
});
