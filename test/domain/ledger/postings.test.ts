import { expect } from 'chai';
import { toMinor } from '../../../domain/kernel/money.ts';
import { journalEntry, LEDGER_ACCOUNTS } from '../../../domain/ledger/postings.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import {
  at,
  created,
  expired,
  failed,
  held,
  issued,
  released,
  returned,
  SETTLED_AT,
  sentBack,
  settled,
} from '../../support/samples.ts';

const entry = (when: string, ...lines: readonly (readonly [string, number])[]) => ({
  at: when,
  postings: lines.map(([account, amount]) => ({ account, currency: 'BRL', amount })),
});
const MONEY: readonly (readonly [string, PaymentEvent, ReturnType<typeof entry>])[] = [
  [
    'settled, available at once',
    settled(),
    entry(
      SETTLED_AT,
      ['provider_clearing', -12_345],
      ['merchant_available', 12_212],
      ['provider_fees', 10],
      ['platform_fees', 123],
    ),
  ],
  [
    'settled, held',
    settled({ availableAt: at('14:05:01') }),
    entry(
      SETTLED_AT,
      ['provider_clearing', -12_345],
      ['merchant_pending', 12_212],
      ['provider_fees', 10],
      ['platform_fees', 123],
    ),
  ],
  [
    'settled without a fee has no empty posting',
    settled({ providerFee: toMinor(0), platformFee: toMinor(0), netAmount: toMinor(12_345) }),
    entry(SETTLED_AT, ['provider_clearing', -12_345], ['merchant_available', 12_345]),
  ],
  ['released', released(), entry(at('14:05:01'), ['merchant_pending', -12_212], ['merchant_available', 12_212])],
  ['held for review', held(), entry(SETTLED_AT, ['provider_clearing', -12_345], ['payer_returns', 12_345])],
  [
    'rejected',
    sentBack('wrong_amount', { amount: toMinor(5) }),
    entry(SETTLED_AT, ['provider_clearing', -5], ['payer_returns', 5]),
  ],
  ['returned', returned(), entry(at('13:05:02'), ['payer_returns', -12_345], ['provider_clearing', 12_345])],
];

describe('journalEntry', () => {
  for (const [name, event, expected] of MONEY) it(name, () => expect(journalEntry(event)).to.deep.equal(expected));
  for (const event of [created(), issued(), expired(), failed()])
    it(`${event.type} moves no money`, () => expect(journalEntry(event)).to.equal(null));
  it('posts to these accounts', () => {
    expect(LEDGER_ACCOUNTS).to.deep.equal([
      'merchant_available',
      'merchant_pending',
      'provider_clearing',
      'provider_fees',
      'platform_fees',
      'payer_returns',
    ]);
  });
});
