import { toMinor } from '../../../domain/kernel/money.ts';
import { parseTimestamp } from '../../../domain/kernel/time.ts';
import { releaseHeld, returnHeld } from '../../../domain/payment/held.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import { given } from '../../support/given.ts';
import {
  at,
  cancelled,
  cancelRequested,
  created,
  expired,
  held,
  heldRejected,
  heldReleased,
  issued,
  LOCKED_TO,
  OTHER_END_TO_END_ID,
  receipt,
  returned,
  SETTINGS,
  sentBack,
  settled,
} from '../../support/samples.ts';

const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const HELD = [...LOCKED, held()];
const NOW = at('13:20:00');
const TERMS = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
const nameless = { payer: { name: 'X', document: null } };
const credited = settled({ receipt: receipt(nameless), at: NOW });
const returnIdOf = (id: string) => `return-${id}`;

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
        settled({ receipt: receipt(nameless), at: NOW, availableAt: parseTimestamp('2026-11-22T13:20:00.000Z') }),
        'released',
      );
  });
  it('credits also what was heard of after the expiry, and after a wish to cancel', () => {
    given(payment, ...LOCKED, expired(), held(), cancelRequested())
      .when(release)
      .then(heldReleased(), credited, 'released');
  });
  it('leaves a second Pix on its way back', () => {
    given(payment, ...HELD, sentBack('second_payment', { endToEndId: OTHER_END_TO_END_ID }))
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
  const back = returnHeld(returnIdOf, 'operator:ana', NOW);
  it('sends it back, once', () => {
    given(payment, ...HELD)
      .when(back)
      .then(heldRejected('operator'), 'returning')
      .again('already_returning');
  });
  it('again by somebody else and later is what it was, also once it has gone', () => {
    const other = returnHeld(() => 'other', 'operator:bia', at('18:00:00'));
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
