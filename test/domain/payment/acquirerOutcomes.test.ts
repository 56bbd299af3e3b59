import { type Refusal, recordProcessing, recordRefusal } from '../../../domain/payment/acquirerOutcomes.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import {
  at,
  cancelled,
  cancelRequested,
  created,
  expired,
  failed,
  held,
  incoming,
  issued,
  processing,
  refused,
  refusedInstrument,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const TWO = [created({ methods: ['CREDIT_CARD', 'BOLETO'] }), otherIssued(card()), otherIssued(boleto())];
const APPROVED = [...CARD, settledByCard()];

/** Payments that can’t be paid by card: not yet, or no longer. */
const NOT_BY_CARD: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['no card instrument', [created({ methods: ['CREDIT_CARD', 'BOLETO'] }), otherIssued(boleto())]],
  ['Pix only', [created(), issued()]],
  [
    'card refused at its creation',
    [created({ methods: ['CREDIT_CARD', 'PIX'] }), issued(), refusedInstrument('CREDIT_CARD')],
  ],
  ['failed', [created({ methods: ['CREDIT_CARD'] }), failed()]],
  ['expired', [...CARD, expired()]],
  ['cancelled', [...CARD, cancelRequested(), cancelled()]],
  ['settled', APPROVED],
  ['settled by the other method', [...TWO, settled({ method: 'BOLETO', incoming: incoming({ method: 'BOLETO' }) })]],
  ['held', [...CARD, held()]],
  ['being returned', [...CARD, sentBack('payer_mismatch')]],
  ['card declined earlier', [...TWO, refused('CREDIT_CARD', false)]],
];

describe('recordProcessing', () => {
  const begin = recordProcessing('CREDIT_CARD', at('13:04:00'));
  it('records that a payment attempt is in progress, once', () => {
    given(payment, ...CARD)
      .when(begin)
      .then(processing(), 'recorded')
      .again('nothing');
  });
  it('does nothing while another attempt is in progress', () => {
    const other = recordProcessing('BOLETO', at('13:06:00'));
    given(payment, ...TWO, processing())
      .when(other)
      .then('nothing');
    given(payment, ...TWO, processing())
      .when(recordProcessing('CREDIT_CARD', at('13:06:00')))
      .then('nothing');
  });
  it('records a new attempt after a wrong amount was returned', () => {
    given(payment, ...CARD, sentBack('wrong_amount'))
      .when(begin)
      .then(processing(), 'recorded');
  });
  for (const [name, history] of NOT_BY_CARD)
    it(`ignores a payment that can’t be paid by card: ${name}`, () =>
      given(payment, ...history)
        .when(begin)
        .then('nothing'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(begin)
      .throws(/never created/));
});

describe('recordRefusal', () => {
  const refusal = (over: Partial<Refusal> = {}): Refusal => ({
    method: 'CREDIT_CARD',
    reason: 'insufficient funds',
    providerErrorCode: 'declined',
    ...over,
  });
  const decline = recordRefusal(refusal(), at('13:04:30'));

  it('ends the payment if its only method is declined, once', () => {
    given(payment, ...CARD)
      .when(decline)
      .then(refused('CREDIT_CARD', true), 'recorded')
      .again('nothing');
    given(payment, ...CARD, processing())
      .when(decline)
      .then(refused('CREDIT_CARD', true), 'recorded')
      .again('nothing');
  });
  it('keeps the payment open after the first of two methods, and ends it after the second', () => {
    given(payment, ...TWO, processing())
      .when(decline)
      .then(refused('CREDIT_CARD', false), 'recorded')
      .again('nothing')
      .and()
      .when(recordRefusal(refusal({ method: 'BOLETO' }), at('13:04:30')))
      .then(refused('BOLETO', true), 'recorded')
      .again('nothing');
  });
  it('keeps the first reason when repeated with other content', () => {
    given(payment, ...CARD, refused('CREDIT_CARD', true))
      .when(recordRefusal(refusal({ reason: 'lost card' }), at('13:09:00')))
      .then('nothing');
  });

  const LAST: readonly (readonly [string, readonly PaymentEvent[], string, boolean])[] = [
    ['the other method was refused at its creation', [TWO[0]!, TWO[1]!, refusedInstrument('BOLETO')], '13:04:30', true],
    ['the other method is pending', [TWO[0]!, TWO[1]!], '13:04:30', false],
    ['the other method is declined', [...TWO, refused('BOLETO', false)], '13:04:30', true],
    [
      'the other method has expired',
      [TWO[0]!, TWO[1]!, otherIssued(boleto({ expiresAt: at('13:04:29') }))],
      '13:04:30',
      false,
    ],
  ];
  for (const [name, history, when, isFinal] of LAST)
    it(`${isFinal ? 'ends the payment' : 'keeps the payment open'} when ${name}`, () => {
      given(payment, ...history)
        .when(recordRefusal(refusal(), at(when)))
        .then(refused('CREDIT_CARD', isFinal, at(when)), 'recorded')
        .again('nothing');
    });
  it('keeps the payment open while another method is in progress, even after that method’s expiry', () => {
    const late = at('13:40:00');
    given(payment, ...TWO, processing('CREDIT_CARD'))
      .when(recordRefusal(refusal({ method: 'BOLETO' }), late))
      .then(refused('BOLETO', false, late), 'recorded')
      .and()
      .when(recordProcessing('CREDIT_CARD', late)) // still in progress
      .then('nothing');
  });
  it('keeps the payment open if a second method was in progress, too, and has expired meanwhile', () => {
    const late = at('13:40:00');
    given(payment, TWO[0]!, TWO[1]!, otherIssued(boleto({ expiresAt: at('13:30:00') })), processing('CREDIT_CARD'))
      .when(recordProcessing('BOLETO', at('13:05:00')))
      .then('nothing')
      .and()
      .when(recordRefusal(refusal(), late))
      .then(refused('CREDIT_CARD', false, late), 'recorded');
  });
  for (const [name, history] of NOT_BY_CARD)
    it(`ignores a payment that can’t be paid by card: ${name}`, () =>
      given(payment, ...history)
        .when(decline)
        .then('nothing'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(decline)
      .throws(/never created/));
});
