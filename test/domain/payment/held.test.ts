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

/** Never held, or not any more. */
const NOT_HELD: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['waiting', LOCKED],
  ['settled without review', [...LOCKED, settled()]],
  ['sent back by the payer lock', [...LOCKED, sentBack('payer_mismatch')]],
  ['cancelled', [...HELD, cancelRequested(), cancelled(), heldRejected('cancelled')]],
  ['expired', [...LOCKED, expired()]],
];

describe('releaseHeld (M5)', () => {
  const release = releaseHeld(TERMS, 'operator:ana', NOW);
  it('lets it pass and credits it in one append, once', () => {
    given(payment, ...HELD)
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  it('again by somebody else, later and with other terms, is what it was', () => {
    const fee = { percentBps: 0, fixed: toMinor(7) };
    const fees = { ...DEFAULT_FEES, PIX: { provider: fee, platform: fee } };
    given(payment, ...HELD, heldReleased(), credited)
      .when(releaseHeld({ ...TERMS, fees }, 'operator:bia', at('18:00:00')))
      .then('already_released');
  });
  it('holds the net for the account’s days (M2), from the release on', () => {
    given(payment, ...HELD)
      .when(releaseHeld({ ...TERMS, holdDays: { ...SETTINGS.holdDays, PIX: 1 } }, 'operator:ana', NOW))
      .then(
        heldReleased(),
        settled({ incoming: incoming(nameless), at: NOW, availableAt: parseTimestamp('2026-11-22T13:20:00.000Z') }),
        'released',
      );
  });
  it('credits also what was heard of after the expiry, and after a wish to cancel', () => {
    given(payment, ...LOCKED, expired(), held(), cancelRequested())
      .when(release)
      .then(heldReleased(), credited, 'released');
  });
  it('leaves a second Pix on its way back', () => {
    given(payment, ...HELD, sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID }))
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  for (const [name, history] of [...NOT_HELD, ['sent back', [...HELD, heldRejected('operator')]] as const])
    it(`${name}: invalid_request`, () =>
      given(payment, ...history)
        .when(release)
        .rejected('invalid_request'));
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(release)
      .throws(/never created/));
});

describe('returnHeld (M5)', () => {
  const back = returnHeld({ returnIdOf, providerPaymentId: null, by: 'operator:ana' }, NOW);
  it('sends it back, once', () => {
    given(payment, ...HELD)
      .when(back)
      .then(heldRejected('operator'), 'returning')
      .again('already_returning');
  });
  it('again by somebody else and later is what it was, also once it has gone', () => {
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
  for (const [name, history] of [...NOT_HELD, ['let pass', [...HELD, heldReleased(), credited]] as const])
    it(`${name}: invalid_request`, () =>
      given(payment, ...history)
        .when(back)
        .rejected('invalid_request'));
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(back)
      .throws(/never created/));
});

/** What the provider refuses to send back, by why it was not credited. */
const UNRETURNED: { readonly [why: string]: readonly PaymentEvent[] } = {
  wrong_amount: [...LOCKED, sentBack('wrong_amount'), returnRefused()],
  second_payment: [...LOCKED, settled(), sentBack('second_payment', second), returnRefused(second)],
  charge_ended: [...LOCKED, expired(), sentBack('charge_ended'), returnRefused()],
  payer_mismatch: [...LOCKED, sentBack('payer_mismatch'), returnRefused()],
  cancelled: [...HELD, cancelRequested(), cancelled(), heldRejected('cancelled'), returnRefused()],
};
const BY_OPERATOR = [...HELD, heldRejected('operator'), returnRefused()];

describe('what the provider refuses to send back', () => {
  const release = releaseHeld(TERMS, 'operator:ana', NOW);
  const back = (providerPaymentId: string | null = null) =>
    returnHeld({ returnIdOf, providerPaymentId, by: 'operator:ana' }, NOW);
  for (const [why, history] of Object.entries(UNRETURNED)) {
    const pix = why === 'second_payment' ? OTHER_END_TO_END_ID : END_TO_END_ID;
    it(`${why}: can’t be credited, and is sent back under another name, once`, () => {
      given(payment, ...history)
        .when(release)
        .rejected('invalid_request');
      given(payment, ...history)
        .when(back())
        .then(returnRetried(`return-${pix}-1`, pix), 'returning')
        .again('already_returning');
    });
  }
  it('sent back by an operator: can be sent back again, or credited after all, once', () => {
    given(payment, ...BY_OPERATOR)
      .when(back())
      .then(returnRetried(`return-${END_TO_END_ID}-1`), 'returning');
    given(payment, ...BY_OPERATOR)
      .when(release)
      .then(heldReleased(), credited, 'released')
      .again('already_released');
  });
  it('on its way again: not credited; refused again: under a third name', () => {
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
  it('credited, it can’t be sent back any more', () => {
    given(payment, ...BY_OPERATOR, heldReleased(), credited)
      .when(back())
      .rejected('invalid_request');
  });
  it('several of a payment are returned together, or one alone', () => {
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
