// `demo`: a tour of the running system in less than a minute (charge, QR code, payment, webhook, wallet, events, verification).

import QRCode from 'qrcode';
import { verifyWebhook } from '../../docs/receivers/verifyWebhook.mjs';
import { type PaymentId, PREFIX } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { openStorage, type Storage } from '../boot/storage.ts';
import type { LocalCommand } from '../cli/command.ts';
import { loadToolConfig } from '../config/config.ts';
import { attachToEmbeddedPostgres } from '../embeddedPostgres/embeddedPostgres.ts';
import { assertSchema } from '../postgres/migrate.ts';
import { knownKeyring } from '../secrets/secretsKey.ts';
import { Merchant, NOTHING_TO_SAY, openInbox, type Webhook } from './merchant.ts';

type Say = (text: string) => void;

interface Charge {
  readonly id: string;
  readonly status: string;
  readonly checkout_url: string;
  readonly pix: { readonly br_code: string };
}
interface Payment {
  readonly end_to_end_id: string;
  readonly outcome: string;
}

/** Centavos. */
const AMOUNT = 12_345;
const reais = (centavos: number): string => formatAmount(centavos, 'BRL', 'en');

/** How long the tour waits for a webhook. */
const WEBHOOK_MS_MAX = 15_000;

const payAndReceive = async (merchant: Merchant, say: Say): Promise<Charge> => {
  const came = Promise.withResolvers<Webhook>();
  await using inbox = await openInbox(async (webhook) => {
    came.resolve(webhook);
    return NOTHING_TO_SAY;
  });
  return await merchant.subscribed(inbox.url, ['charge.paid'], async (endpoint) => {
    say(`\n1. Registered a webhook endpoint for charge.paid: ${endpoint.id}`);
    say(`   Its secret is shown once: ${endpoint.secret.slice(0, 8)}…`);
    const asked = { amount: AMOUNT, payment_method: 'pix', description: 'Pedido 1001' };
    const charge = await merchant.call<Charge>('POST', '/v1/charges', asked);
    say(`\n2. Created a Pix charge of ${reais(AMOUNT)}: ${charge.id}, ${charge.status}`);
    say(`   The payer's page: ${charge.checkout_url}\n   The code: ${charge.pix.br_code}\n`);
    say(await QRCode.toString(charge.pix.br_code, { type: 'utf8', errorCorrectionLevel: 'L' }));
    const paidAtMs = performance.now();
    const paid = await merchant.call<Payment>('POST', `/v1/sandbox/charges/${charge.id}/pay`, {});
    say(`3. The payer paid: ${paid.outcome}, end-to-end id ${paid.end_to_end_id}`);
    const late = setTimeout(
      () => came.reject(new Error(`no charge.paid arrived within ${WEBHOOK_MS_MAX / 1_000} s`)),
      WEBHOOK_MS_MAX,
    );
    const webhook = await came.promise.finally(() => clearTimeout(late));
    verifyWebhook(endpoint.secret, webhook.headers, webhook.rawBody);
    const ms = Math.max(0, Math.round(webhook.arrivedAtMs - paidAtMs));
    say(`\n4. The webhook charge.paid arrived ${ms} ms after the payment was sent; signature valid:`);
    say(`   X-Acme-Signature: ${String(webhook.headers['x-acme-signature']).slice(0, 60)}…`);
    const wallet = await merchant.call<{ available: number }>('GET', '/v1/wallets/balance');
    say(
      `\n5. The wallet holds ${reais(wallet.available)}. Fees are deducted from each payment, here ${reais(AMOUNT)} − 0.10 − 1.23`,
    );
    return charge;
  });
};

const audit = async (storage: Storage, id: PaymentId, say: Say) => {
  const stream = PAYMENT.stream(id);
  say(`\n6. The payment's events, in the stream ${stream}:`);
  for await (const { revision, type, recordedAt } of storage.store.readStream(stream))
    say(`   ${revision}  ${recordedAt}  ${type}`);
  const { rows, differences } = await verify(PROJECTIONS, storage, storage.openSession);
  say(`\n7. Compared every read model with a replay of all events: ${rows} rows, ${differences.length} differences\n`);
  if (differences.length > 0) throw new Error('the read models differ from the events');
  return { rows, differences: differences.length };
};

export const demoCommand: LocalCommand = {
  name: 'demo',
  summary:
    'Take a tour of the running system: a charge, its payment, the webhook, the wallet, the events, the verification',
  args: [],
  options: {
    live: { description: 'in live mode, against a simulated institution that the tour starts itself', flag: true },
    seed: {
      description: 'instead of the tour, open three shops with a month of payments, the same in every run',
      flag: true,
    },
  },
  isLocal: true,
  run: async ({ env, signal }, { isJson, options }, { print, progress }) => {
    const config = loadToolConfig(env);
    const say: Say = isJson ? () => undefined : print;
    if (options['seed']) {
      const { seedCommand } = await import('./seed/seedCommand.ts');
      return seedCommand(config, progress);
    }
    if (options['live']) {
      const { liveTour } = await import('./liveTour.ts');
      return { json: await liveTour(config, say, signal), text: '' };
    }
    const merchant = await Merchant.ofDemo(config);
    const connectionString = await attachToEmbeddedPostgres(config.dataDir);
    await assertSchema(connectionString);
    const storage = await openStorage(
      connectionString,
      config.eventStoreUrl,
      await knownKeyring(config),
      () => undefined,
    );
    try {
      const { id } = await payAndReceive(merchant, say);
      const audited = await audit(storage, id.slice(PREFIX.charge.length) as PaymentId, say);
      return { json: { chargeId: id, amount: AMOUNT, ...audited }, text: '' };
    } finally {
      await storage.close();
    }
  },
};
