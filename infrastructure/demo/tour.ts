// The tour, step by step.
import QRCode from 'qrcode';
import type { StreamName } from '../../domain/kernel/event.ts';
import { formatAmount } from '../../http/site/checkout/amount.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { ConfigError, loadToolConfig } from '../boot/config.ts';
import { openStorage, type Storage } from '../boot/storage.ts';
import { attachToEmbeddedPostgres } from '../embeddedPostgres/attach.ts';
import { assertSchema } from '../postgres/migrate.ts';
import { demoFile, readDemoAccount } from './demoAccount.ts';
import { DemoMerchant, isSigned, openInbox } from './merchant.ts';

type Say = (text: string) => void;

interface Charge {
  readonly id: string;
  readonly status: string;
  readonly checkout_url: string;
  readonly pix: { readonly br_code: string };
  readonly settlement: { readonly end_to_end_id?: string };
}

const AMOUNT = 12_345;
const reais = (centavos: number): string => formatAmount(centavos, 'BRL');

export const demoTour = async (env: NodeJS.ProcessEnv, say: Say): Promise<void> => {
  const config = loadToolConfig(env);
  if (config.databaseUrl !== null) throw new ConfigError('DATABASE_URL is set: the demo runs on the embedded default');
  const { baseUrl, testApiKey } = await readDemoAccount(demoFile(config.dataDir));
  const connectionString = await attachToEmbeddedPostgres(config.dataDir);
  await assertSchema(connectionString);
  const storage = await openStorage(connectionString, config.eventStoreUrl, () => undefined);
  try {
    const charge = await payAndReceive(new DemoMerchant(baseUrl, testApiKey), say);
    await audit(storage, charge.id.slice('ch_'.length), say);
  } finally {
    await storage.close();
  }
};

const payAndReceive = async (merchant: DemoMerchant, say: Say): Promise<Charge> => {
  const inbox = await openInbox();
  const endpoint = await merchant.call<{ id: string; secret: string }>('POST', '/v1/webhooks/endpoints', {
    url: inbox.url,
    events: ['charge.paid'],
  });
  try {
    say(
      `\n1. A webhook endpoint for charge.paid is registered: ${endpoint.id}\n   Its secret is shown once: ${endpoint.secret.slice(0, 8)}…`,
    );
    const charge = await merchant.call<Charge>('POST', '/v1/charges', {
      amount: AMOUNT,
      payment_method: 'pix',
      description: 'Pedido 1001',
    });
    say(
      `\n2. A Pix charge over ${reais(AMOUNT)}: ${charge.id}, ${charge.status}\n   The payer's page: ${charge.checkout_url}\n   The code: ${charge.pix.br_code}\n`,
    );
    say(await QRCode.toString(charge.pix.br_code, { type: 'utf8', errorCorrectionLevel: 'L' }));
    const paidAt = performance.now();
    const paid = await merchant.call<{ end_to_end_id: string; outcome: string }>(
      'POST',
      `/v1/sandbox/charges/${charge.id}/pay`,
      {},
    );
    say(`3. The payer pays: ${paid.outcome}, end-to-end id ${paid.end_to_end_id}`);
    const hook = await inbox.next('charge.paid');
    if (!isSigned(hook, endpoint.secret)) throw new Error('the signature of the webhook is wrong');
    say(
      `\n4. The webhook charge.paid arrived ${Math.max(0, Math.round(hook.arrivedAt - paidAt))} ms after the payment was sent; its signature is right:\n   X-Acme-Signature: ${String(hook.headers['x-acme-signature']).slice(0, 60)}…`,
    );
    const wallet = await merchant.call<{ available: number }>('GET', '/v1/wallets/balance');
    say(
      `\n5. The wallet holds ${reais(wallet.available)}: each payment less its fees, here ${reais(AMOUNT)} − 0,10 − 1,23`,
    );
    return charge;
  } finally {
    await merchant.call('DELETE', `/v1/webhooks/endpoints/${endpoint.id}`);
    inbox.close();
  }
};

const audit = async ({ store, openSession }: Storage, rawId: string, say: Say): Promise<void> => {
  say(`\n6. What is stored of it: the stream payment-${rawId}`);
  for await (const { revision, type, recordedAt } of store.readStream(`payment-${rawId}` as StreamName))
    say(`   ${revision}  ${recordedAt}  ${type}`);
  const { rows, differences } = await verify(PROJECTIONS, store, openSession);
  say(`\n7. Every read model against a replay of all events: ${rows} rows, ${differences.length} differences\n`);
  if (differences.length > 0) throw new Error('the read models differ from the events');
};
