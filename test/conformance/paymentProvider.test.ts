// The conformance suite on the sandbox bank, and on the API Pix adapter with the simulated institution, in the standard dialect and in
// Efí’s.
import type { InstrumentRequest } from '../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { makeEndToEndId } from '../../domain/pix/ids.ts';
import { SANDBOX_ISPB } from '../../domain/pix/sandboxPeople.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { SandboxBank } from '../../infrastructure/providers/sandbox/bank.ts';
import { sandboxPayer } from '../../infrastructure/providers/sandbox/payer.ts';
import { openAt, TENANT } from '../infrastructure/providers/pixApi/support.ts';
import type { Settings } from '../simulators/pixApi/settings.ts';
import { startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { ACCOUNT_ID } from '../support/samples.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { type ProviderUnderTest, paymentProviderConformance } from './paymentProvider/paymentProvider.ts';

const PAYER = { name: 'PAGADOR DE TESTE', document: '99991111140' };
const SANDBOX: InstrumentRequest['sandbox'] = {
  receiverName: 'Loja',
  receiverCity: 'Recife',
  baseUrl: 'https://pay.example.com',
  documentToken: null,
  metadata: {},
};

paymentProviderConformance('the sandbox bank', async (): Promise<ProviderUnderTest> => {
  const database = await migratedDatabase();
  const db = new PgPool(connectionConfig(database.connectionString, 'test'), 4, () => undefined);
  const provider = new SandboxBank({
    db,
    wait: async () => undefined,
    confirmsRefunds: async () => true,
    now: async () => new Date().toISOString() as never,
  });
  const notifications = { store: async () => true, wake: () => undefined } as Partial<ProviderNotifications>;
  const payer = sandboxPayer(db, notifications as ProviderNotifications);
  const tenant = { accountId: ACCOUNT_ID, mode: 'test' } as const;
  let paid = 0;
  return {
    provider,
    tenant,
    sandbox: SANDBOX,
    payer: PAYER,
    pay: async ({ paymentId, txid }, { amount, paidAt }) => {
      const suffix = String(++paid).padStart(11, '0');
      const providerPaymentId = makeEndToEndId({ ispb: SANDBOX_ISPB, at: paidAt, suffix });
      await payer.pay(
        tenant,
        paymentId,
        txid,
        { method: 'PIX', providerPaymentId, amount, payer: PAYER, paidAt },
        false,
      );
      return providerPaymentId;
    },
    returnsOf: async (id) => {
      const text = `SELECT (SELECT count(*) FROM sandbox_bank.returns WHERE return_id = $1) +
        (SELECT count(*) FROM sandbox_bank.refunds WHERE refund_id = $1) AS n`;
      return Number((await db.query<{ n: string }>(text, [id])).rows[0]?.n);
    },
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
});

const institution = async (preset: string, settings: Partial<Settings>): Promise<ProviderUnderTest> => {
  const simulator = await startSimulator({ settings: { payer: 'full', ...settings } });
  const bound = new Map<string, PaymentId>();
  const claims = async (id: string, payment: PaymentId) => {
    if (!bound.has(id)) bound.set(id, payment);
    return bound.get(id) === payment;
  };
  const connection = openAt(simulator, { preset }, { claims });
  return {
    provider: connection.provider,
    tenant: TENANT,
    sandbox: null,
    payer: PAYER,
    pay: async ({ txid }, { amount, paidAt }) => simulator.pay(txid, { amount, paidAt }),
    returnsOf: async (id) =>
      simulator
        .state()
        .clients.flatMap(({ received }) => received)
        .flatMap(({ returns }) => returns)
        .filter((one) => one.id === id).length,
    close: () => {
      connection.close();
      return simulator.close();
    },
  };
};
paymentProviderConformance('API Pix, the standard', () => institution('generic', {}));
paymentProviderConformance('API Pix, Efí', () => institution('efi', { dialect: 'efi' }));
