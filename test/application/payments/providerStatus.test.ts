// What is asked of a provider that does not answer, or does not know what was asked for.

import { expect } from 'chai';
import { providerStatus } from '../../../application/payments/providerStatus.ts';
import { ProviderUnavailable } from '../../../application/ports/paymentProvider.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists, type ExistingPayment } from '../../../domain/payment/payment.ts';
import { type Core, newId, openCore } from '../../support/core.ts';

describe('providerStatus', () => {
  let core: Core;
  let payment: ExistingPayment;
  before(async () => {
    core = await openCore();
    const stream = PAYMENT.stream(await core.openCharge({ txid: newId() }));
    payment = assertExists((await core.commands.load(PAYMENT, stream)).state);
  });
  after(() => core.close());

  it('no answer: ProviderUnavailable, and the next time it is asked again', async () => {
    const ask = providerStatus({ accounts: core.accounts, providers: core.provider });
    core.provider.next('statusOf', 'unknown');
    const failed = await ask(payment).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ProviderUnavailable);
    expect(await ask(payment)).to.deep.include({ providerStatus: null, rawResponse: null });
  });
  it('no provider for the mode: ProviderUnavailable', async () => {
    const ask = providerStatus({ accounts: core.accounts, providers: { route: async () => [], of: async () => null } });
    expect(await ask(payment).catch((error: unknown) => error)).to.be.instanceOf(ProviderUnavailable);
  });
});
