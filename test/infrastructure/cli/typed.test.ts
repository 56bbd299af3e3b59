// IDs and streams as operators enter them.
import { expect } from 'chai';
import { reject } from '../../../domain/kernel/rejection.ts';
import { accepted, accountIdOf, paymentIdOf, streamOf, UsageError } from '../../../infrastructure/cli/command.ts';
import { ACCOUNT_ID, PAYMENT_ID } from '../../support/samples.ts';

const refused = (read: () => unknown): string => {
  try {
    return `took ${read()}`;
  } catch (error) {
    return error instanceof UsageError ? error.message : `threw ${error}`;
  }
};

describe('arguments of operators', () => {
  it('are named as entered in a rejection', () => {
    for (const [param, message, said] of [
      ['name', 'name must have 1 character', '--name must have 1 character'],
      ['returnedToPayer', '`returnedToPayer` is more than `agreed`', '--returned-to-payer is more than `agreed`'],
      ['pix', 'Name one with `pix`.', 'Name one with --pix.'],
      ['email', 'A user has this email.', 'A user has this email.'],
    ] as const)
      expect(refused(() => accepted(reject('invalid_request', message, { param })))).to.equal(said);
  });
  it('accept a payment by its raw ID, its ch_ ID and its tx_ ID', () => {
    for (const text of [PAYMENT_ID, `ch_${PAYMENT_ID}`, `tx_${PAYMENT_ID}`])
      expect(paymentIdOf(text)).to.equal(PAYMENT_ID);
    expect(refused(() => paymentIdOf(`acct_${PAYMENT_ID}`))).to.equal(
      `"acct_${PAYMENT_ID}" is not a payment id: use a ch_ id, a tx_ id or the 26 characters alone`,
    );
  });
  it('accept an account by its acct_ ID', () => {
    expect(accountIdOf(`acct_${ACCOUNT_ID}`)).to.equal(ACCOUNT_ID);
    expect(refused(() => accountIdOf('acct_1'))).to.equal('"acct_1" is not an account id (acct_…)');
  });
  it('accept a stream by its name, by the ID of its subject, and by a raw payment ID', () => {
    for (const text of [PAYMENT_ID, `ch_${PAYMENT_ID}`, `payment-${PAYMENT_ID}`])
      expect(streamOf(text)).to.equal(`payment-${PAYMENT_ID}`);
    expect(streamOf(`account-${ACCOUNT_ID}`)).to.equal(`account-${ACCOUNT_ID}`);
    for (const [prefix, category] of [
      ['acct', 'account'],
      ['po', 'payout'],
      ['rf', 'refund'],
      ['med', 'medCase'],
      ['wd', 'webhookDelivery'],
    ])
      expect(streamOf(`${prefix}_${PAYMENT_ID}`)).to.equal(`${category}-${PAYMENT_ID}`);
    expect(streamOf('logConsumer-process/expiry')).to.equal('logConsumer-process/expiry');
  });
  it('reject streams of an unknown category or with an invalid ID', () => {
    const other = [
      'melon',
      `melon-${PAYMENT_ID}`,
      'payment-1',
      'po_1',
      `xx_${PAYMENT_ID}`,
      `_${PAYMENT_ID}`,
      `payment-${PAYMENT_ID}0`,
      'logConsumer-a b',
      'logConsumer-',
    ];
    for (const text of other)
      expect(refused(() => streamOf(text))).to.equal(
        `"${text}" is not a stream: use an id such as ch_… or po_…, or a name such as payment-<raw id>`,
      );
  });
});
