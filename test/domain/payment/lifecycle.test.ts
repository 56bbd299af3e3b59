import { toMinor } from '../../../domain/kernel/money.ts';
import { expire, recordReturn, recordReturnRefusal, releaseFunds } from '../../../domain/payment/lifecycle.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import {
  at,
  cancelled,
  cancelRequested,
  created,
  END_TO_END_ID,
  EXPIRES_AT,
  expired,
  failed,
  held,
  heldRejected,
  incoming,
  issued,
  OTHER_END_TO_END_ID,
  processing,
  refused,
  refusedInstrument,
  released,
  returned,
  returnRefused,
  returnRetried,
  sentBack,
  settled,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];

describe('expire', () => {
  it('ends an unpaid charge at its expiry, once', () => {
    given(payment, ...OPEN)
      .when(expire(EXPIRES_AT))
      .then(expired(), 'recorded')
      .again('nothing');
  });
  it('uses the expiry time, however late the event is recorded', () => {
    given(payment, ...OPEN)
      .when(expire(at('18:30:00')))
      .then(expired(EXPIRES_AT), 'recorded')
      .and()
      .when(expire(at('19:00:00')))
      .then('nothing');
  });
  const nothing: readonly (readonly [string, readonly PaymentEvent[]])[] = [
    ['a charge without an instrument', [created()]],
    ['a failed charge', [created(), failed()]],
    ['a settled payment', [...OPEN, settled()]],
    ['a payment held for review (M5)', [...OPEN, held()]],
    ['a payment that is being returned because of the payer lock', [...OPEN, sentBack('payer_mismatch')]],
    ['a payment that was returned because of the payer lock', [...OPEN, sentBack('payer_mismatch'), returned()]],
    ['a cancelled charge', [...OPEN, cancelRequested(), cancelled()]],
    ['a declined payment', [...CARD, refused('CREDIT_CARD', true)]],
  ];
  for (const [name, history] of nothing)
    it(`ignores ${name}`, () =>
      given(payment, ...history)
        .when(expire(at('15:00:00')))
        .then('nothing'));
  it('ignores a payment while an instrument is being issued, and ends it at the last expiry once that is refused (I8a)', () => {
    const history = [created({ methods: ['PIX', 'BOLETO'] }), issued()];
    given(payment, ...history)
      .when(expire(at('14:05:00')))
      .then('nothing');
    given(payment, ...history, refusedInstrument('BOLETO', at('14:06:00')))
      .when(expire(at('14:06:00')))
      .then(expired(), 'recorded');
  });
  it('ignores a charge before its expiry', () => {
    given(payment, ...OPEN)
      .when(expire(at('13:59:59')))
      .then('nothing');
  });
  it('ends payments with a card in progress, a pending cancellation or one of two methods declined', () => {
    for (const before of [
      [...CARD, processing()],
      [...CARD, cancelRequested()],
    ])
      given(payment, ...before)
        .when(expire(at('13:30:00')))
        .then(expired(at('13:30:00')), 'recorded')
        .again('nothing');
    given(payment, created({ methods: ['CREDIT_CARD', 'PIX'] }), issued(), CARD[1]!, refused('CREDIT_CARD', false))
      .when(expire(EXPIRES_AT))
      .then(expired(), 'recorded')
      .again('nothing');
  });
  it('uses the latest expiry of several instruments (I8a)', () => {
    const several = [created({ methods: ['CREDIT_CARD', 'PIX'] }), issued(), CARD[1]!];
    given(payment, ...several)
      .when(expire(at('13:59:59')))
      .then('nothing');
    given(payment, ...several)
      .when(expire(EXPIRES_AT))
      .then(expired(), 'recorded')
      .again('nothing');
  });
  it('ends a charge that received only a wrong amount', () => {
    given(payment, ...OPEN, sentBack('wrong_amount'))
      .when(expire(EXPIRES_AT))
      .then(expired(), 'recorded')
      .again('nothing');
  });
  it('throws if the payment was never created', () =>
    given(payment)
      .when(expire(EXPIRES_AT))
      .throws(/never created/));
});

describe('releaseFunds', () => {
  const HELD_FUNDS = [...OPEN, settled({ availableAt: at('14:05:01') })];
  it('releases the net amount when the hold ends, once', () => {
    given(payment, ...HELD_FUNDS)
      .when(releaseFunds(at('14:05:01')))
      .then(released(), 'recorded')
      .again('nothing');
  });
  it('uses the end of the hold, however late the event is recorded', () => {
    given(payment, ...HELD_FUNDS)
      .when(releaseFunds(at('20:00:00')))
      .then(released(), 'recorded')
      .again('nothing');
  });
  it('does nothing when repeated later', () => {
    given(payment, ...HELD_FUNDS, released())
      .when(releaseFunds(at('22:00:00')))
      .then('nothing');
  });
  it('does nothing before the end of the hold', () =>
    given(payment, ...HELD_FUNDS)
      .when(releaseFunds(at('14:05:00')))
      .then('nothing'));
  it('does nothing if the money was available at once or nothing was settled', () => {
    given(payment, ...OPEN, settled())
      .when(releaseFunds(at('20:00:00')))
      .then('nothing');
    given(payment, ...OPEN)
      .when(releaseFunds(at('20:00:00')))
      .then('nothing');
    given(payment, ...OPEN, held())
      .when(releaseFunds(at('20:00:00')))
      .then('nothing');
  });
  it('throws if the payment was never created', () => {
    given(payment)
      .when(releaseFunds(at('20:00:00')))
      .throws(/never created/);
  });
});

describe('recordReturn', () => {
  const back = recordReturn(END_TO_END_ID, 'return-1', at('13:05:02'));
  it('records the return of a rejected Pix, once', () => {
    given(payment, ...OPEN, sentBack('wrong_amount'))
      .when(back)
      .then(returned(), 'recorded')
      .again('nothing');
    given(payment, ...OPEN, sentBack('payer_mismatch'))
      .when(back)
      .then(returned(), 'recorded')
      .again('nothing');
  });
  it('does nothing when repeated later', () => {
    given(payment, ...OPEN, sentBack('wrong_amount'), returned())
      .when(recordReturn(END_TO_END_ID, 'return-1', at('15:00:00')))
      .then('nothing');
  });
  it('records the amount that arrived, not the amount of the charge', () => {
    given(payment, ...OPEN, sentBack('wrong_amount', { amount: toMinor(5) }))
      .when(back)
      .then(returned(END_TO_END_ID, 5), 'recorded');
  });
  it('records the return of a second Pix, once', () => {
    const second = incoming({ providerPaymentId: OTHER_END_TO_END_ID });
    given(payment, ...OPEN, settled(), sentBack('second_payment', second))
      .when(recordReturn(OTHER_END_TO_END_ID, 'return-1', at('13:05:02')))
      .then(returned(OTHER_END_TO_END_ID), 'recorded')
      .again('nothing');
  });
  it('records the return of a held Pix after an operator’s decision or a cancellation', () => {
    const cancelledHeld = [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled')];
    for (const history of [[...OPEN, held(), heldRejected('operator')], cancelledHeld])
      given(payment, ...history)
        .when(recordReturn(END_TO_END_ID, `return-${END_TO_END_ID}`, at('13:05:02')))
        .then(returned(), 'recorded')
        .again('nothing');
  });
  it('ignores a Pix that was settled, held or never seen', () => {
    given(payment, ...OPEN, settled())
      .when(back)
      .then('nothing');
    given(payment, ...OPEN, held())
      .when(back)
      .then('nothing');
    given(payment, ...OPEN)
      .when(back)
      .then('nothing');
  });
  it('throws if the payment was never created', () =>
    given(payment)
      .when(back)
      .throws(/never created/));
});

describe('recordReturnRefusal', () => {
  const refuse = recordReturnRefusal(END_TO_END_ID, 'return-1', 'account closed', at('13:06:00'));
  it('records the refusal once', () => {
    given(payment, ...OPEN, sentBack('wrong_amount', { amount: toMinor(5) }))
      .when(refuse)
      .then(returnRefused({ amount: 5 }), 'recorded')
      .again('nothing');
  });
  it('ignores a refusal of the first return after a retry under another id', () => {
    given(payment, ...OPEN, sentBack('wrong_amount'), returnRefused(), returnRetried('return-2'))
      .when(refuse)
      .then('nothing');
  });
  it('lets a refused return be recorded as returned if the provider confirms it later, before or after a retry', () => {
    const back = recordReturn(END_TO_END_ID, 'return-1', at('13:05:02'));
    given(payment, ...OPEN, sentBack('wrong_amount'), returnRefused())
      .when(back)
      .then(returned(), 'recorded')
      .again('nothing');
    given(payment, ...OPEN, sentBack('wrong_amount'), returnRefused(), returnRetried('return-2'))
      .when(back)
      .then(returned(END_TO_END_ID, 12_345, at('13:05:02'), 'return-1'), 'recorded')
      .again('nothing');
  });
  it('ignores a Pix that was settled, held, returned or never seen', () => {
    for (const history of [[settled()], [held()], [sentBack('wrong_amount'), returned()], []])
      given(payment, ...OPEN, ...history)
        .when(refuse)
        .then('nothing');
  });
  it('throws if the payment was never created', () =>
    given(payment)
      .when(refuse)
      .throws(/never created/));
});
