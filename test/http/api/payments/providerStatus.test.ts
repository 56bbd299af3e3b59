// GET /v1/payments/{id}/provider-status (contract.md Payments): the local status beside the provider’s.
import { expect } from 'chai';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';

const REFERENCE: { readonly [method: string]: RegExp } = {
  PIX: /^[a-z0-9]{32}$/,
  CREDIT_CARD: /^\S+$/,
  BOLETO: /^\S+$/,
};

describe('provider-status', () => {
  let gateway: TestGateway;
  let desk: PaymentDesk;
  before(async () => {
    gateway = await openReady();
    desk = await PaymentDesk.open(gateway);
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const statusOf = async (id: string): Promise<Body> => {
    const { status, body, text } = await gateway.get<Body>(`/v1/payments/${id}/provider-status`, desk.as);
    expect(status, text).to.equal(200);
    return body;
  };
  const charge = async (body: Body = {}) =>
    (await gateway.charge<Body>({ amount: 1_050, expires_in: 600, ...body }, desk.as)).body as Body & { id: string };
  const nowhere = (localStatus: string) => ({
    localStatus,
    provider: null,
    providerTransactionId: null,
    providerStatus: null,
    rawResponse: null,
    error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
  });

  it('returns a Pix’s txid and its current state as in the standard Pix API', async () => {
    const { id, pix, created_at: criacao } = await charge();
    const { txid } = pix as { txid: string };
    const open = { txid, status: 'ATIVA', calendario: { criacao, expiracao: 600 }, valor: { original: '10.50' } };
    const waiting = {
      localStatus: 'WAITING_PAYMENT',
      provider: 'sandbox',
      providerTransactionId: txid,
      providerStatus: 'ATIVA',
      rawResponse: open,
    };
    for (const form of [rawIdOf(id), id, `tx_${rawIdOf(id)}`]) expect(await statusOf(form)).to.deep.equal(waiting);

    const { body } = await gateway.post<Body>(`/v1/sandbox/charges/${id}/pay`, {}, desk.as);
    const { paidAt: horario } = await desk.read(rawIdOf(id));
    const arrived = { endToEndId: body['end_to_end_id'], txid, valor: '10.50', horario };
    expect(await statusOf(id)).to.deep.equal({
      ...waiting,
      localStatus: 'PAID',
      providerStatus: 'CONCLUIDA',
      rawResponse: { ...open, status: 'CONCLUIDA', pix: [arrived] },
    });
  });

  it('shows a canceled Pix as removed', async () => {
    const { id } = await charge();
    await gateway.post(`/v1/payments/${rawIdOf(id)}/cancel`, {}, desk.as);
    const { localStatus, providerStatus, error } = await statusOf(id);
    expect([localStatus, providerStatus, error]).to.deep.equal([
      'CANCELLED',
      'REMOVIDA_PELO_USUARIO_RECEBEDOR',
      undefined,
    ]);
  });

  it('returns an error and nulls if the payment never reached a provider', async () => {
    const { id } = await desk.create({ ...ORDERS['PIX'], metadata: { sandbox_provider: 'slow' } });
    expect(await statusOf(id)).to.deep.equal(nowhere('PENDING'));
    const rejected = await charge({ metadata: { sandbox_provider: 'rejected' } });
    expect(await statusOf(rejected.id)).to.deep.equal(nowhere('REFUSED'));
  });

  it('shows the first of several methods, then the one that was paid', async () => {
    const id = await desk.waiting({ amount: 10_000, paymentMethods: ['BOLETO', 'PIX', 'CREDIT_CARD'] });
    const references = new Set<unknown>();
    const expectMethod = async (method: string) => {
      const { providerTransactionId, provider } = await statusOf(id);
      expect(provider).to.equal('sandbox');
      expect(providerTransactionId).to.match(REFERENCE[method] as RegExp);
      references.add(providerTransactionId);
    };
    await expectMethod('BOLETO');
    await expectMethod('BOLETO');
    expect(references.size).to.equal(1);
    await desk.act(id, 'authorize', 'APPROVED', { method: 'CREDIT_CARD' });
    await expectMethod('CREDIT_CARD');
    expect(references.size).to.equal(2);
    expect((await statusOf(id))['providerStatus']).to.equal('CONCLUIDA');
  });

  it('returns 404 for IDs that are invalid, unknown, or of another account or mode', async () => {
    const { id } = await charge();
    const stranger = await gateway.newTenant();
    for (const bad of ['nonsense', '0'.repeat(26)])
      expectError(await gateway.get(`/v1/payments/${bad}/provider-status`, desk.as), 404, 'not_found');
    for (const key of [stranger.testKey, stranger.liveKey, desk.tenant.liveKey])
      expectError(await gateway.get(`/v1/payments/${rawIdOf(id)}/provider-status`, { key }), 404, 'not_found');
  });
});
