// The story’s part in live mode: an operator connects an institution, its callbacks settle a charge, a dispute is ruled manually, and
// reconciliation finds a Pix that belongs to no charge.
import { saoPauloDay } from '../../../domain/kernel/civilDay.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { incoming } from '../../support/samples.ts';
import { FakeConnection } from '../../world/fakeConnections.ts';
import type { TestGateway } from '../../world/gateway.ts';
import type { Story } from './story.ts';

const OPTIONS = {
  preset: 'efi',
  name: 'Efí, main account',
  baseUrl: 'https://pix.api.efipay.com.br',
  tokenUrl: 'https://pix.api.efipay.com.br/oauth/token',
  clientId: 'Client_Id_0f4c',
  clientSecret: 'Client_Secret_77e1',
  pixKey: '5f84a4c5-c5cb-4599-9f13-7eb4d419dacc',
};
const PIX = ['E00000000202611021200story000001', 'E00000000202611021200story000002'] as const;

/** An institution that calls a webhook as soon as it is registered. */
export class StoryInstitution extends FakeConnection {
  call: (body: unknown) => Promise<unknown> = async () => undefined;

  constructor(terms: ConnectionTerms) {
    super(terms);
    this.provider.disputes = null;
    this.provider.ownsExpiry = true;
  }
  override async registerWebhook(url: string): Promise<void> {
    await super.registerWebhook(url);
    void this.call({ evento: 'teste_webhook' });
  }
}

export const tellLive = async (
  story: Story,
  gateway: TestGateway,
  institutionOf: () => StoryInstitution,
  nowMs: number,
): Promise<void> => {
  const token = (await gateway.logIn('OPERATOR')).authorization.slice('Bearer '.length);
  const added = await story.ask<{ id: string; callbackUrl: string }>('addProvider', { body: OPTIONS, token });
  const { id } = added;
  const path = new URL(added.callbackUrl).pathname;
  await story.ask('listProviders', { token });
  const key = gateway.tenant.liveKey;
  const { body: charge } = await gateway.call<{ id: string; pix: { txid: string } }>('POST', '/v1/charges', {
    key,
    body: { amount: 12345, payment_method: 'pix' },
    idempotencyKey: 'order-5001',
  });
  const institution = institutionOf();
  institution.call = (body) => gateway.call('POST', path, { key: null, body });
  const paidAt = fromMillis(nowMs);
  // Reconciliation covers the last day of real time, not of the story’s clock.
  const strayAt = fromMillis(Date.now());
  const { incomingPayments } = institution.provider;
  incomingPayments.set(charge.pix.txid, [incoming({ providerPaymentId: PIX[0], paidAt })]);
  incomingPayments.set('0'.repeat(32), [incoming({ providerPaymentId: PIX[1], paidAt: strayAt })]);
  await institution.call({ pix: [{ endToEndId: PIX[0], txid: charge.pix.txid }] });
  await institution.call({ pix: [{ endToEndId: PIX[1], txid: '0'.repeat(32) }] });
  await until(
    () => gateway.call<{ status: string }>('GET', `/v1/charges/${charge.id}`, { key }),
    ({ body }) => body.status === 'paid',
  );
  await story.ask('showProvider', { id, token });
  await story.ask('changeProvider', { id, body: { name: 'Efí, second account', order: 2 }, token });
  await story.ask('registerProviderWebhook', { id, token });
  await story.ask('showProviderWebhook', { id, token });
  await story.ask('checkProvider', { id, token });
  const callbacks = await until(
    () => story.ask<{ data: { id: string }[] }>('listProviderCallbacks', { id, query: '?outcome=unmatched', token }),
    ({ data }) => data.length > 0,
  );
  await story.ask('resolveProviderCallback', {
    id,
    callback: callbacks.data[0]?.id ?? '',
    body: { reason: 'Returned from the bank’s app.' },
    token,
  });
  await story.ask('runReconciliation', { body: { connection: id }, token });
  const day = saoPauloDay(strayAt);
  await story.ask('reportReconciliation', { query: `?connection=${id}&day=${day}`, token });
  const findings = await story.ask<{ data: { id: string }[] }>('listReconciliationFindings', { token });
  const finding = findings.data[0]?.id ?? '';
  await story.ask('resolveReconciliationFinding', {
    id: finding,
    body: { reason: 'Returned from the bank’s app.' },
    token,
  });
  const opening = { chargeId: charge.id, amount: 12345, reason: 'The payer’s bank reports fraud.' };
  const { caseId } = await story.ask<{ caseId: string }>('openCase', { body: opening, token });
  await story.ask('ruleCase', { id: caseId, body: { result: 'agreed' }, token });
  await story.ask('rotateProviderClientSecret', { id, body: { clientSecret: 'Client_Secret_91b2' }, token });
  await story.ask('rotateProviderCallbackSecret', { id, token });
  await story.ask('drainProvider', { id, token });
  await story.ask('enableProvider', { id, token });
  await story.ask('disableProvider', { id, token });
};

const until = async <T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> => {
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
  }
};
