// Measures how long one account waits for its events while another has webhookUrls of dead hosts.
import { DeadHosts } from '../world/deadHosts.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver } from '../world/receiver.ts';

interface DeadNeighbourReport {
  /** Milliseconds from the request that creates a payment to its webhook, ascending. */
  readonly tookMs: readonly number[];
  /** Number of messages to the dead hosts, and of those that were attempted. */
  readonly messages: number;
  readonly tried: number;
  /** Connections to hosts that accept them and never answer. */
  readonly held: number;
}

const AT_ONCE = 16;
const PATIENCE_MS = 60_000;

/** Takes samples in its own order and at its own pace. `sample` resolves with the milliseconds of one sample. */
type Sampling = (sample: () => Promise<number>) => Promise<readonly number[]>;

/** Each sample makes a payment for each account, so that the noisy account always has first attempts. */
export const playDeadNeighbour = async (hosts: number, sampling: Sampling): Promise<DeadNeighbourReport> => {
  const dataDir = await newDataDir();
  const program = await new Program({ dataDir, port: await freePort() }).ready();
  const [dead, receiver] = [await DeadHosts.open(), await Receiver.open()];
  try {
    const { testApiKey: living } = await program.demo();
    const owner = ['account', 'create', '--name', 'Loja morta', '--email', 'morta@example.com'];
    const { testApiKey: noisy } = (await cli(dataDir, owner)) as { testApiKey: string };
    const call = async <T>(apikey: string, path: string, body?: unknown): Promise<T> => {
      const response = await fetch(program.baseUrl + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { apikey, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    };
    let payments = 0;
    const pay = async (apikey: string, more: object = {}): Promise<string> => {
      const order = {
        amount: 100,
        currency: 'BRL',
        paymentMethods: ['PIX'],
        idempotencyKey: `neighbour-${payments++}`,
      };
      return (await call<{ id: string }>(apikey, '/v1/payments', { ...order, ...more })).id;
    };
    await call(living, '/v1/webhooks/endpoints', { url: receiver.url, events: ['payment.created'] });

    const wanted = Array.from({ length: hosts }, (_, n) => dead.url(n))[Symbol.iterator]();
    const payer = async (): Promise<void> => {
      for (const webhookUrl of wanted) await pay(noisy, { webhookUrl });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, payer));

    let samples = 0;
    const tookMs = await sampling(async () => {
      const beganAtMs = Date.now();
      const [id] = await Promise.all([pay(living), pay(noisy, { webhookUrl: dead.url(samples++ % hosts) })]);
      const { at } = await receiver.until(({ rawBody }) => rawBody.includes(id), PATIENCE_MS);
      return at - beganAtMs;
    });

    const { data, total: messages } = await deliveriesOf(noisy, call);
    return {
      tookMs: tookMs.toSorted((a, b) => a - b),
      messages,
      tried: data.filter(({ attempts }) => attempts > 0).length,
      held: dead.held,
    };
  } finally {
    await program.stop();
    await receiver.close();
    await dead.close();
    await removeDataDir(dataDir);
  }
};

interface Page {
  readonly data: readonly { readonly attempts: number }[];
  readonly total: number;
}
const PAGE = 100;

const deliveriesOf = async (key: string, call: <T>(key: string, path: string) => Promise<T>): Promise<Page> => {
  const data: { readonly attempts: number }[] = [];
  for (;;) {
    const page = await call<Page>(key, `/v1/webhooks/deliveries?limit=${PAGE}&offset=${data.length}`);
    data.push(...page.data);
    if (page.data.length < PAGE) return { data, total: page.total };
  }
};
