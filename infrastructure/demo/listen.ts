// A webhook receiver for one's own first steps.
import { ConfigError, loadToolConfig } from '../boot/config.ts';
import { demoFile, readDemoAccount } from './demoAccount.ts';
import { DemoMerchant, isSigned, openInbox, type Webhook } from './merchant.ts';

/** Registers an endpoint for all events, prints what arrives, and deletes the endpoint at the end. */
export const listenForWebhooks = async (env: NodeJS.ProcessEnv, say: (text: string) => void): Promise<void> => {
  const { databaseUrl, dataDir } = loadToolConfig(env);
  if (databaseUrl !== null) throw new ConfigError('DATABASE_URL is set: the demo account is of the embedded default');
  const demo = await readDemoAccount(demoFile(dataDir));
  const merchant = new DemoMerchant(demo.baseUrl, demo.testApiKey);
  const secret = { value: '' };
  const inbox = await openInbox((webhook) => say(line(webhook, secret.value)));
  const endpoint = await merchant.call<{ id: string; secret: string }>('POST', '/v1/webhooks/endpoints', {
    url: inbox.url,
    events: ['*'],
  });
  secret.value = endpoint.secret;
  say(`Listening at ${inbox.url} as ${endpoint.id}; Ctrl-C ends it.`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await merchant.call('DELETE', `/v1/webhooks/endpoints/${endpoint.id}`);
  inbox.close();
};

const line = (webhook: Webhook, secret: string): string => {
  const type = String(webhook.headers['x-acme-event-type']);
  return `${isSigned(webhook, secret) ? 'signature right' : 'SIGNATURE WRONG'}  ${type.padEnd(24)} ${webhook.rawBody}`;
};
