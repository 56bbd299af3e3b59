import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, DAY_MS } from '../../../domain/kernel/time.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { type SettleOutcome, type SettleReceipt, settleReceipt } from '../../../domain/payment/settle.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import type { Receipt } from '../../../domain/transaction/transaction.ts';
import { given } from '../../support/given.ts';
import {
  at,
  created,
  EXPIRES_AT,
  expired,
  failed,
  held,
  issued,
  LOCKED_TO,
  OTHER_END_TO_END_ID,
  receipt,
  returned,
  SETTLED_AT,
  SOMEBODY_ELSE,
  sentBack,
  settled,
} from '../../support/samples.ts';

const arriving = (over: Partial<Receipt> = {}, more: Partial<SettleReceipt> = {}): SettleReceipt => ({
  receipt: receipt(over),
  fees: DEFAULT_FEES,
  holdDays: 0,
  returnId: 'return-1',
  at: SETTLED_AT,
  ...more,
});

const OPEN = [created(), issued()];
const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const second = { endToEndId: OTHER_END_TO_END_ID };
const wrong = { amount: toMinor(12_344) };
const late = { paidAt: at('14:00:01') };
const nameless = { payer: { name: 'X', document: null } };
const other = { payer: { name: 'X', document: SOMEBODY_ELSE } };

/** Every row breaks its own rule and all rules below it: the first rule that applies decides (settle.ts). */
const ORDER: readonly (readonly [
  string,
  readonly PaymentEvent[],
  Partial<Receipt>,
  readonly PaymentEvent[],
  SettleOutcome,
])[] = [
  ['1 seen before, settled', [...LOCKED, settled()], { ...wrong, ...late, ...other }, [], 'duplicate'],
  ['1 seen before, held', [...LOCKED, held()], { ...wrong, ...late, ...other }, [], 'duplicate'],
  ['1 seen before, sent back', [...OPEN, sentBack('wrong_amount')], { ...wrong, ...late }, [], 'duplicate'],
  ['1 seen before, returned', [...OPEN, sentBack('wrong_amount'), returned()], { ...wrong, ...late }, [], 'duplicate'],
  [
    '2 money is there already',
    [...LOCKED, settled()],
    { ...second, ...wrong, ...late, ...other },
    [sentBack('second_payment', { ...second, ...wrong, ...late, ...other })],
    'returned',
  ],
  [
    '2 money is held for review',
    [...LOCKED, held()],
    { ...second, ...wrong, ...late, ...nameless },
    [sentBack('second_payment', { ...second, ...wrong, ...late, ...nameless })],
    'returned',
  ],
  [
    '2 the payer lock sent money back',
    [...LOCKED, sentBack('payer_mismatch', other)],
    { ...second, ...other },
    [sentBack('second_payment', { ...second, ...other })],
    'returned',
  ],
  [
    '2 the payer lock has returned money',
    [...LOCKED, sentBack('payer_mismatch', other), returned()],
    { ...second, ...late },
    [sentBack('second_payment', { ...second, ...late })],
    'returned',
  ],
  [
    '3 paid after the expiry',
    LOCKED,
    { ...wrong, ...late, ...other },
    [sentBack('charge_ended', { ...wrong, ...late, ...other })],
    'returned',
  ],
  [
    '3 paid after the expiry, expired',
    [...OPEN, expired()],
    { ...wrong, ...late },
    [sentBack('charge_ended', { ...wrong, ...late })],
    'returned',
  ],
  [
    '3 the charge failed',
    [created({ expectedPayerTaxId: LOCKED_TO }), failed()],
    { ...wrong, ...other },
    [sentBack('charge_ended', { ...wrong, ...other })],
    'returned',
  ],
  [
    '4 too little, locked',
    LOCKED,
    { ...wrong, ...nameless },
    [sentBack('wrong_amount', { ...wrong, ...nameless })],
    'returned',
  ],
  [
    '4 too much',
    OPEN,
    { amount: toMinor(12_346) },
    [sentBack('wrong_amount', { amount: toMinor(12_346) })],
    'returned',
  ],
  ['5 locked, no document', LOCKED, nameless, [held()], 'held'],
  ['6 locked, another payer', LOCKED, other, [sentBack('payer_mismatch', other)], 'refunded'],
  ['7 locked, the right payer', LOCKED, {}, [settled()], 'settled'],
  ['7 no lock, no document', OPEN, nameless, [settled({ receipt: receipt(nameless) })], 'settled'],
  ['7 no lock, anybody', OPEN, other, [settled({ receipt: receipt(other) })], 'settled'],
  [
    '7 paid at the very expiry',
    OPEN,
    { paidAt: EXPIRES_AT },
    [settled({ receipt: receipt({ paidAt: EXPIRES_AT }) })],
    'settled',
  ],
  ['7 paid in time, heard of after the expiry', [...OPEN, expired()], {}, [settled()], 'settled'],
  [
    '7 after a wrong amount that went back',
    [...OPEN, sentBack('wrong_amount', { ...second, ...wrong }), returned(OTHER_END_TO_END_ID, 12_344)],
    {},
    [settled()],
    'settled',
  ],
];

describe('settleReceipt', () => {
  describe('the first rule that applies decides', () => {
    for (const [rule, history, arrives, events, outcome] of ORDER)
      it(`${rule}: ${outcome}`, () => {
        given(payment, ...history)
          .when(settleReceipt(arriving(arrives)))
          .then(...events, outcome)
          .again('duplicate');
      });
  });

  it('holds the net for the account’s days (M2)', () => {
    given(payment, ...OPEN)
      .when(settleReceipt(arriving({}, { holdDays: 2 })))
      .then(settled({ availableAt: addMillis(SETTLED_AT, 2 * DAY_MS) }), 'settled');
  });
  it('fixes the fees of the account’s schedule in the event (M1)', () => {
    const fee = { percentBps: 0, fixed: toMinor(7) };
    const fees = { ...DEFAULT_FEES, PIX: { provider: fee, platform: { percentBps: 200, fixed: toMinor(0) } } };
    const charged = { providerFee: toMinor(7), platformFee: toMinor(247), netAmount: toMinor(12_091) };
    given(payment, ...OPEN)
      .when(settleReceipt(arriving({}, { fees })))
      .then(settled(charged), 'settled')
      .again('duplicate');
  });
  it('again with other content is the first one still', () => {
    const changed = arriving({ ...wrong, ...other }, { at: at('15:00:00'), holdDays: 3, returnId: 'return-2' });
    given(payment, ...OPEN, settled())
      .when(settleReceipt(changed))
      .then('duplicate');
  });
  it('sends back what arrived before there was an instrument: a caller brings the creation to its end first', () => {
    given(payment, created()).when(settleReceipt(arriving())).then(sentBack('charge_ended'), 'returned');
  });
  it('of a payment that was never created is a broken invariant', () => {
    given(payment)
      .when(settleReceipt(arriving()))
      .throws(/never created/);
  });
});
