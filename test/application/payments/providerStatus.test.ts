// The provider status when the provider does not answer or does not know the payment.

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

  it('throws ProviderUnavailable if the provider does not answer, and asks again the next time', async () => {
    const ask = providerStatus({ accounts: core.accounts, providers: core.provider });
    core.provider.next('statusOf', 'unknown');
    const failed = await ask(payment).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ProviderUnavailable);
    expect(await ask(payment)).to.deep.include({ providerStatus: null, rawResponse: null });
  });
  it('throws ProviderUnavailable if the mode has no provider', async () => {
    const ask = providerStatus({ accounts: core.accounts, providers: { route: async () => [], of: async () => null } });
    expect(await ask(payment).catch((error: unknown) => error)).to.be.instanceOf(ProviderUnavailable);
  });
});
