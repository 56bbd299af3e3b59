// The bytes of every message form. They are not stored: attempts and reads render them anew from the payment’s events. If the bytes of a
// form changed, a retry would send something else than the attempt before it. Each form has its file, `forms/<form>.json`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { appealCase, ruleCase } from '../../../domain/dispute/decisions.ts';
import type { Ruling } from '../../../domain/dispute/medCase.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { EventId } from '../../../domain/kernel/ids.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { MESSAGE_FORM, messagesInForm } from '../../../domain/kernel/publisher.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { recordCaseStep } from '../../../domain/payment/dispute.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { paymentPublisher } from '../../../domain/presentation/messages.ts';
import {
  at,
  cancelled,
  created,
  disputeOpened,
  expired,
  failed,
  held,
  heldRejected,
  issued,
  processing,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  returned,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';
import { casePlayed } from '../../world/medCases.ts';

/** Returns the dispute events of a payment whose case opens, is appealed, and ends with this ruling. */
const disputed = (ruling: Ruling | 'withdrawn', announced: boolean): readonly PaymentEvent[] => {
  const appeal = appealCase('It was delivered.', at('17:00:00'));
  const rule = ruleCase({ report: 2, ruling, review: false, at: at('17:59:00') }, announced, at('18:00:00'));
  const steps = [
    ['opened', casePlayed({}), at('16:00:00')],
    ['appealed', casePlayed({}, appeal), at('17:00:00')],
    ['closed', casePlayed({}, appeal, rule), at('18:00:00')],
  ] as const;
  const events = [...OPEN, settled(), disputeOpened('DISPUTE')];
  const told = steps.flatMap(([change, medCase, when], revision) => {
    const decided = recordCaseStep({ revision, change, medCase, at: when })(fold(payment, events));
    if (isRejection(decided)) throw new Error(decided.message);
    events.push(...decided.events);
    return decided.events;
  });
  return [disputeOpened('DISPUTE'), ...told];
};

const FOLDER = new URL('./forms/', import.meta.url);
const HOW_TO_CHANGE =
  'Bytes of a form have changed, which deliveries have whose attempts go on: give the new bytes a form of their own (MESSAGE_FORM, ' +
  'messagesInForm), leave the old ones to the old form, and run MESSAGE_FORMS=write npx mocha test/domain/presentation/forms.test.ts';
const EVENT_ID = '00000000000000000000000005' as EventId;

const OPEN = [created(), issued()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const BY_MERCHANT = { feePaidBy: 'merchant' } as const;
const DEVOLUTION = { strategy: 'devolution', fee: ZERO } as const;
const HISTORIES: { readonly [name: string]: readonly PaymentEvent[] } = {
  'a Pix that arrives and is refunded by a Pix-out': [...OPEN, settled(), refundReserved(), refundCompleted()],
  'a refund whose fee the merchant pays': [
    ...OPEN,
    settled(),
    refundReserved(BY_MERCHANT),
    refundCompleted(BY_MERCHANT),
  ],
  'a refund that fails': [...OPEN, settled(), refundReserved(), refundReleased()],
  'a Pix that is given back': [...OPEN, settled(), refundReserved(DEVOLUTION), refundCompleted({ fee: ZERO }, null)],
  'a charge that expires': [...OPEN, expired()],
  'a charge that fails': [created(), failed()],
  'a charge that is cancelled': [...OPEN, cancelled()],
  'a payer who is another': [...OPEN, sentBack('payer_mismatch'), returned()],
  'a wrong amount': [...OPEN, sentBack('wrong_amount'), returned()],
  'a Pix that is held and sent back': [...OPEN, held(), heldRejected('operator'), returned()],
  'a card that is charged, disputed': [...CARD, processing(), settledByCard(), disputeOpened()],
  'a card that is declined': [...CARD, refused('CREDIT_CARD', false), refused('CREDIT_CARD', true)],
  'a customer with an id': [
    created({ customerId: 'customer-1', metadata: { z: 1, a: { y: ['ç', '😀'] } } }),
    issued(),
    settled(),
  ],
  'a dispute that is appealed and won': [
    ...OPEN,
    settled(),
    ...disputed({ result: 'disagreed', returned: true, returnedToPayer: null }, true),
  ],
  'a dispute whose outcome is not published': [...OPEN, settled(), ...disputed('withdrawn', false)],
  'an amount of one': [created({ amount: toMinor(1) }), issued()],
};

const bodiesOf = (form: number): { readonly [history: string]: readonly string[] } =>
  Object.fromEntries(
    Object.entries(HISTORIES).map(([name, events]) => {
      let state = payment.initial;
      const bodies = events.flatMap((event) => {
        const before = state;
        state = payment.evolve(before, event);
        return messagesInForm(paymentPublisher, form)(before, event, state).map(
          ({ type, render }) => `${type} ${render(EVENT_ID)}`,
        );
      });
      return [name, bodies];
    }),
  );

const fileOf = (form: number): URL => new URL(`${form}.json`, FOLDER);
if (process.env['MESSAGE_FORMS'] === 'write' && !existsSync(fileOf(MESSAGE_FORM)))
  writeFileSync(fileOf(MESSAGE_FORM), `${JSON.stringify(bodiesOf(MESSAGE_FORM), null, 2)}\n`);

describe('message forms', () => {
  const forms = Array.from({ length: MESSAGE_FORM }, (_, n) => n + 1);
  it('each have a file', () =>
    void expect(readdirSync(FOLDER).sort()).to.deep.equal(forms.map((form) => `${form}.json`).sort()));
  for (const form of forms)
    it(`keep the bytes of form ${form}`, () => {
      const kept = JSON.parse(readFileSync(fileOf(form), 'utf8')) as ReturnType<typeof bodiesOf>;
      const now = bodiesOf(form);
      for (const [name, bodies] of Object.entries(kept))
        expect(now[name], `${name}. ${HOW_TO_CHANGE}`).to.deep.equal(bodies);
    });
  it('throw for an unknown form number', () => {
    for (const form of [0, MESSAGE_FORM + 1]) expect(() => messagesInForm(paymentPublisher, form)).to.throw(RangeError);
  });
});
