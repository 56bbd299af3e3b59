import { toMinor } from '../../../domain/kernel/money.ts';
import { releaseHeld, returnHeld } from '../../../domain/payment/held.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import { given } from '../../support/given.ts';
import {
  at,
  cancelled,
  cancelRequested,
  created,
  END_TO_END_ID,
  expired,
  held,
  heldRejected,
  heldReleased,
  incoming,
  issued,
  LOCKED_TO,
  OTHER_END_TO_END_ID,
  returned,
  returnRefused,
  returnRetried,
  SETTINGS,
  sentBack,
  settled,
} from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const HELD = [...LOCKED, held()];
const NOW = at('13:20:00');
const TERMS = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
const second = { providerPaymentId: OTHER_END_TO_END_ID };
const nameless = { payer: { name: 'X', document: null } };
const credited = settled({ incoming: incoming(nameless), at: NOW });
const returnIdOf = (id: string, refusals: number) => (refusals === 0 ? `return-${id}` : `return-${id}-${refusals}`);

/** Payments that are not held: never were, or no longer are. */
const NOT_HELD: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['still waiting for a payment', LOCKED],
  ['settled without review', [...LOCKED, settled()]],
  ['rejected by the payer lock', [...LOCKED, sentBack('payer_mismatch')]],
  ['cancelled', [...HELD, cancelRequested(), cancelled(), heldRejected('cancelled')]],
  ['expired', [...LOCKED, expired()]],
];

describe('releaseHeld (M5)', () => {
  const release = releaseHeld(TERMS, 'operator:ana', NOW);
  it('releases and credits the Pix in one append, once', () => {
    given(payment, ...HELD)
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  it('keeps the original release when another operator repeats it later with other terms', () => {
    const fee = { percentBps: 0, fixed: toMinor(7) };
    const fees = { ...DEFAULT_FEES, PIX: { provider: fee, platform: fee } };
    given(payment, ...HELD, heldReleased(), credited)
      .when(releaseHeld({ ...TERMS, fees }, 'operator:bia', at('18:00:00')))
      .then('already_released');
  });
  it('holds the net amount for the account’s hold days (M2), counted from the release', () => {
    given(payment, ...HELD)
      .when(releaseHeld({ ...TERMS, holdDays: { ...SETTINGS.holdDays, PIX: 1 } }, 'operator:ana', NOW))
      .then(
        heldReleased(),
        settled({ incoming: incoming(nameless), at: NOW, availableAt: parseTimestamp('2026-11-22T13:20:00.000Z') }),
        'released',
      );
  });
  it('credits a Pix that was reported after the expiry, even after a cancellation request', () => {
    given(payment, ...LOCKED, expired(), held(), cancelRequested())
      .when(release)
      .then(heldReleased(), credited, 'released');
  });
  it('does not affect the return of a second Pix', () => {
    given(payment, ...HELD, sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID }))
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  for (const [name, history] of [...NOT_HELD, ['sent back', [...HELD, heldRejected('operator')]] as const])
    it(`rejects with invalid_request: ${name}`, () =>
      given(payment, ...history)
        .when(release)
        .rejected('invalid_request'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(release)
      .throws(/never created/));
});

describe('returnHeld (M5)', () => {
  const back = returnHeld({ returnIdOf, providerPaymentId: null, by: 'operator:ana' }, NOW);
  it('returns the Pix once', () => {
    given(payment, ...HELD)
      .when(back)
      .then(heldRejected('operator'), 'returning')
      .again('already_returning');
  });
  it('keeps the original return when another operator repeats it, even after the money has gone back', () => {
    const other = returnHeld(
      { returnIdOf: () => 'other', providerPaymentId: null, by: 'operator:bia' },
      at('18:00:00'),
    );
    given(payment, ...HELD, heldRejected('operator'))
      .when(other)
      .then('already_returning');
    given(payment, ...HELD, heldRejected('operator'), returned())
      .when(other)
      .then('already_returning');
  });
  for (const [name, history] of [...NOT_HELD, ['released and settled', [...HELD, heldReleased(), credited]] as const])
    it(`rejects with invalid_request: ${name}`, () =>
      given(payment, ...history)
        .when(back)
        .rejected('invalid_request'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(back)
      .throws(/never created/));
});

/** Payments with a return that the provider refused, keyed by the reason for the return. */
const UNRETURNED: { readonly [why: string]: readonly PaymentEvent[] } = {
  wrong_amount: [...LOCKED, sentBack('wrong_amount'), returnRefused()],
  second_payment: [...LOCKED, settled(), sentBack('second_payment', second), returnRefused(second)],
  charge_ended: [...LOCKED, expired(), sentBack('charge_ended'), returnRefused()],
  payer_mismatch: [...LOCKED, sentBack('payer_mismatch'), returnRefused()],
  cancelled: [...HELD, cancelRequested(), cancelled(), heldRejected('cancelled'), returnRefused()],
};
const BY_OPERATOR = [...HELD, heldRejected('operator'), returnRefused()];

describe('a return that the provider refuses', () => {
  const release = releaseHeld(TERMS, 'operator:ana', NOW);
  const back = (providerPaymentId: string | null = null) =>
    returnHeld({ returnIdOf, providerPaymentId, by: 'operator:ana' }, NOW);
  for (const [why, history] of Object.entries(UNRETURNED)) {
    const pix = why === 'second_payment' ? OTHER_END_TO_END_ID : END_TO_END_ID;
    it(`can’t be released, but can be returned under another id, once: ${why}`, () => {
      given(payment, ...history)
        .when(release)
        .rejected('invalid_request');
      given(payment, ...history)
        .when(back())
        .then(returnRetried(`return-${pix}-1`, pix), 'returning')
        .again('already_returning');
    });
  }
  it('can be retried or, if an operator started the return, released, once', () => {
    given(payment, ...BY_OPERATOR)
      .when(back())
      .then(returnRetried(`return-${END_TO_END_ID}-1`), 'returning');
    given(payment, ...BY_OPERATOR)
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  it('can’t be released while a retry is in progress, and gets a third id if the retry is refused', () => {
    const again = [...BY_OPERATOR, returnRetried(`return-${END_TO_END_ID}-1`)];
    given(payment, ...again)
      .when(release)
      .rejected('invalid_request');
    given(payment, ...again, returnRefused())
      .when(back())
      .then(returnRetried(`return-${END_TO_END_ID}-2`), 'returning');
    given(payment, ...again, returned())
      .when(back())
      .then('already_returning');
  });
  it('can’t be retried after the Pix was credited', () => {
    given(payment, ...BY_OPERATOR, heldReleased(), credited)
      .when(back())
      .rejected('invalid_request');
  });
  it('can be retried alone or with all other money of the payment', () => {
    const both = [...HELD, sentBack('second_payment', second), returnRefused(second)];
    const retried = returnRetried(`return-${OTHER_END_TO_END_ID}-1`, OTHER_END_TO_END_ID);
    given(payment, ...both)
      .when(back())
      .then(heldRejected('operator'), retried, 'returning');
    given(payment, ...both)
      .when(back(OTHER_END_TO_END_ID))
      .then(retried, 'returning');
    given(payment, ...both)
      .when(back(END_TO_END_ID))
      .then(heldRejected('operator'), 'returning');
    given(payment, ...both)
      .when(back('E-of-another'))
      .rejected('invalid_request');
    given(payment, ...both)
      .when(release)
      .then(heldReleased(), credited, 'released');
  });
});
