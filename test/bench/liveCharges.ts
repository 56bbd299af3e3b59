// POST /v1/charges with a live key against the same with a test key: the CPU of the gateway’s process per charge, with all its effects.
// Both have the same arrival rate, because commits and events are grouped, so CPU per request falls with the rate. The simulated
// institution runs in this process, over https with client certificates. Rounds alternate.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { GatewayUnderTest } from './gatewayUnderTest.ts';
import { LoadGenerator } from './load.ts';
import { type BenchRow, ofAccounts } from './row.ts';
import { median } from './statistics.ts';

const CONNECTIONS = 32;
const PER_SECOND = 100;
const RATIO_MAX = 1.8;
/** Raises the fraud limits per hour, of the account and of a customer. */
const UNGUARDED = ['--velocity-account', '100000', '--velocity-customer', '100000'];

const connect = async (gateway: GatewayUnderTest, simulator: Simulator): Promise<void> => {
  const [client] = simulator.clients;
  const folder = await mkdtemp(join(tmpdir(), 'quita-bench-'));
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const options = {
    ...{ kind: 'pix', preset: 'generic', name: 'simulator', 'client-id': client!.clientId, 'pix-key': client!.pixKey },
    ...{ 'base-url': simulator.baseUrl, 'token-url': simulator.tokenUrl },
    'client-secret-file': await file('client.secret', client!.clientSecret),
    certificate: await file('client.pem', simulator.clientCertificate!),
    'private-key': await file('client.key', simulator.clientKey!),
    ca: await file('ca.pem', simulator.ca!),
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  await gateway.cli('provider', 'add', ...words, '--allow-private');
  await rm(folder, { recursive: true });
};

export const liveCharges: BenchRow = async ({ quick, accounts: count, say }) => {
  const [durationMs, rounds] = quick ? [1_000, 1] : [4_000, 4];
  const simulator = await startSimulator({ tls: 'mutual' });
  const gateway = await GatewayUnderTest.start();
  const generator = new LoadGenerator();
  await connect(gateway, simulator);
  const { accounts } = await gateway.cli<{ accounts: readonly { accountId: string }[] }>('account', 'list');
  await gateway.cli('account', 'settings', accounts[0]!.accountId, ...UNGUARDED);
  const sellers = await gateway.tenants(count);
  const liveKeys = sellers.map(({ liveKey }) => liveKey);
  const testKeys = sellers.map(({ testKey }) => testKey);
  /** Returns the CPU per charge, in milliseconds. */
  const cpuOf = async (apiKeys: readonly string[]): Promise<number> => {
    const { port } = gateway;
    await gateway.caughtUp();
    const before = (await gateway.cpuMs()).node;
    const rate = { connections: CONNECTIONS, durationMs, perSecond: PER_SECOND };
    const load = await generator.run({ port, apiKeys, ...rate });
    await gateway.caughtUp();
    return ((await gateway.cpuMs()).node - before) / load.answered;
  };
  say('liveCharges: warming up');
  await cpuOf(testKeys);
  await cpuOf(liveKeys);
  const pairs: { live: number; sandbox: number }[] = [];
  for (let n = 0; n < rounds; n++) {
    const pair = { live: await cpuOf(liveKeys), sandbox: await cpuOf(testKeys) };
    pairs.push(pair);
    say(`liveCharges: ${pair.live.toFixed(2)} ms of CPU a charge, against ${pair.sandbox.toFixed(2)} in the sandbox`);
  }
  generator.close();
  await gateway.stop();
  await simulator.close();
  const ratios = pairs.map(({ live, sandbox }) => live / sandbox);
  return [
    {
      name: 'liveCharges',
      what: `CPU of the program per live charge, ${PER_SECOND} a second${ofAccounts(count)}`,
      against: 'the same in the sandbox',
      unit: 'ms',
      ours: median(pairs.map(({ live }) => live)),
      counterpart: median(pairs.map(({ sandbox }) => sandbox)),
      ratios,
      goal: { text: `≤ ${RATIO_MAX}×`, met: median(ratios) <= RATIO_MAX },
      details: {},
    },
  ];
};
