// The outcome that a sandbox payment announces must equal that of its settlement, and the payment is read only once.
import { expect } from 'chai';
import { Settler } from '../../../application/payments/settle.ts';
import { payInSandbox, type SandboxPayment } from '../../../application/sandbox/payInSandbox.ts';
import { toMillis } from '../../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { systemRandomness } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore } from '../../support/core.ts';
import { CREATED_AT, LOCKED_TO, OTHER_END_TO_END_ID, plain, SOMEBODY_ELSE } from '../../support/samples.ts';

const LOCK = { expectedPayerTaxId: LOCKED_TO };
const PAYMENTS: readonly (readonly [string, { readonly expectedPayerTaxId?: string }, SandboxPayment, string])[] = [
  ['full amount', {}, {}, 'settled'],
  ['too little', {}, { amount: 1 }, 'returned'],
  ['late', {}, { late: true }, 'returned'],
  ['payer lock, no document', LOCK, { payer: { document: null } }, 'held'],
  ['payer lock, another payer', LOCK, { payer: { document: SOMEBODY_ELSE } }, 'refunded'],
];

describe('a payment in the sandbox', () => {
  let core: Core;
  before(async () => {
    core = await openCore();
    core.clock.nowMs = toMillis(CREATED_AT);
  });
  after(() => core.close());

  for (const [name, terms, wish, outcome] of PAYMENTS)
    it(`announces the outcome of its settlement: ${name}`, async () => {
      const { accounts, commands, provider } = core;
      provider.claims.clear();
      const id = await core.openCharge({ txid: newId<string>(), ...terms });
      const booked: IncomingPayment[] = [];
      const bank = {
        pay: async (_tenant: unknown, _id: unknown, _txid: string, incoming: IncomingPayment) => {
          booked.push(incoming);
          return 'booked' as const;
        },
      };
      let reads = 0;
      core.spies.onRead = () => {
        reads += 1;
      };
      const pay = payInSandbox({ commands, accounts, bank, randomness: systemRandomness });
      const tenant = { accountId: core.account.accountId, mode: 'test' } as const;
      const sent = await pay(tenant, id, { end_to_end_id: OTHER_END_TO_END_ID, ...wish });
      core.spies.onRead = null;
      expect(sent).to.deep.equal({ kind: 'sent', endToEndId: OTHER_END_TO_END_ID, expected: outcome });
      expect(reads).to.equal(1);
      const settler = new Settler({ commands, accounts, providers: provider });
      for (const incoming of booked) expect(await settler.settle(id, plain(incoming))).to.equal(outcome);
    });
});
