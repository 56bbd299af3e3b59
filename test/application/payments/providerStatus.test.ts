// The provider status when the provider does not answer or does not know the payment.

import { expect } from 'chai';
import { providerStatus } from '../../../application/payments/providerStatus.ts';
import { ProviderUnavailable } from '../../../application/ports/paymentProvider.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { assertExists, type ExistingPayment } from '../../../domain/payment/payment.ts';
import type { ConnectionStatus } from '../../../domain/providerConnection/connection.ts';
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
  const connection = (status: ConnectionStatus) => ({ providerConnections: { statusOf: async () => status } });

  it('throws ProviderUnavailable if the provider does not answer, and asks again the next time', async () => {
    const ask = providerStatus({ ...connection('enabled'), accounts: core.accounts, providers: core.provider });
    core.provider.next('statusOf', 'unknown');
    const failed = await ask(payment).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ProviderUnavailable);
    expect(await ask(payment)).to.deep.include({ providerStatus: null, rawResponse: null });
  });
  it('returns no response of the provider after an erasure', async () => {
    const raw = { devedor: { nome: 'Maria' } };
    const statusOf = async () => ({ kind: 'known', value: { status: 'CONCLUIDA', raw } }) as const;
    const providers = {
      route: async () => [],
      of: async () => Object.assign(Object.create(core.provider), { statusOf }),
    };
    const ask = providerStatus({ ...connection('enabled'), accounts: core.accounts, providers });
    expect(await ask(payment)).to.deep.include({ providerStatus: 'CONCLUIDA', rawResponse: raw });
    const erased = { ...payment, charge: { ...payment.charge, erasedAt: payment.charge.terms.createdAt } };
    expect(await ask(erased)).to.deep.include({ providerStatus: 'CONCLUIDA', rawResponse: null });
  });
  for (const [status, message] of [
    ['disabled', 'The payment provider did not answer.'],
    ['removed', 'The connection to the payment provider was removed.'],
  ] as const)
    it(`throws ProviderUnavailable with its reason for a ${status} connection`, async () => {
      const providers = { route: async () => [], of: async () => null };
      const ask = providerStatus({ ...connection(status), accounts: core.accounts, providers });
      const { charge } = payment;
      const connectionId = newId<ConnectionId>();
      const live = { ...payment, charge: { ...charge, terms: { ...charge.terms, connectionId } } } as ExistingPayment;
      const failed = await ask(live).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(ProviderUnavailable).and.to.have.property('message', message);
    });
});
