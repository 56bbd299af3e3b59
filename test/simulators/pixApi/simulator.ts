// `npm run simulator`: runs the simulated institution as a program. See docs/simulator.md.
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DataFolder } from './dataFolder.ts';
import { type Simulator, startSimulator } from './startSimulator.ts';

const USAGE = `Usage: npm run simulator -- [options]

  --data-dir <path>      where certificates, keys and secrets are kept (default: a new folder in the temporary directory)
  --port <n>             port of the institution's API (default 8443; 0: any free port)
  --control-port <n>     port of the control API (default 8444; 0: any free port)
  --clients <n>          how many clients the institution has (default 1)
  --tls <mode>           mutual (default), server (no client certificate) or none (plain http)
  --dialect <name>       standard (default) or efi
  --callback-ca <path>   authority of your https webhooks
  --help                 this text
`;

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    port: { type: 'string', default: '8443' },
    'control-port': { type: 'string', default: '8444' },
    clients: { type: 'string', default: '1' },
    tls: { type: 'string', default: 'mutual' },
    dialect: { type: 'string', default: 'standard' },
    'callback-ca': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const fail = (message: string): never => {
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exit(1);
};
const whole = (name: 'port' | 'control-port' | 'clients', most: number): number => {
  const text = values[name];
  return /^\d{1,6}$/.test(text) && Number(text) <= most
    ? Number(text)
    : fail(`--${name} must be an integer up to ${most}.`);
};
const oneOf = <T extends string>(name: 'tls' | 'dialect', allowed: readonly T[]): T =>
  allowed.find((value) => value === values[name]) ?? fail(`--${name} must be one of: ${allowed.join(', ')}.`);

if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const PORT_MAX = 65_535;
const CLIENTS_MAX = 1_000;
const tls = oneOf('tls', ['mutual', 'server', 'none']);
const dialect = oneOf('dialect', ['standard', 'efi']);
const folder = values['data-dir'] ?? (await mkdtemp(join(tmpdir(), 'quita-simulator-')));
const data = await DataFolder.open(folder);

/** Returns the command that connects Quita to one client of the institution. */
const providerAdd = (simulator: Simulator, client: number): string => {
  const { clientId, pixKey } = simulator.clients[client - 1] as Simulator['clients'][number];
  const options: readonly (readonly [name: string, value: string])[] = [
    ['kind', 'pix'],
    ['preset', dialect === 'efi' ? 'efi' : 'generic'],
    ['name', `simulator-${client}`],
    ['base-url', simulator.baseUrl],
    ['token-url', simulator.tokenUrl],
    ['client-id', clientId],
    ['client-secret-file', data.secretFile(client)],
    ...(tls === 'mutual'
      ? ([
          ['certificate', data.pathOf('clientCertificate')],
          ['private-key', data.pathOf('clientKey')],
        ] as const)
      : []),
    ...(tls === 'none' ? [] : ([['ca', data.pathOf('ca')]] as const)),
    ['pix-key', pixKey],
  ];
  return `npm run cli -- provider add ${options.map(([name, value]) => `--${name} ${value}`).join(' ')} --allow-private`;
};

const secrets = await Promise.all(Array.from({ length: whole('clients', CLIENTS_MAX) }, (_, i) => data.secret(i + 1)));
const callbackCa = values['callback-ca'];
const simulator = await startSimulator({
  tls,
  ...(tls === 'none' ? {} : { authority: await data.authority() }),
  clients: secrets.map((clientSecret) => ({ clientSecret })),
  settings: { dialect },
  port: whole('port', PORT_MAX),
  controlPort: whole('control-port', PORT_MAX),
  ...(callbackCa === undefined ? {} : { callbackCa: await readFile(callbackCa, 'utf8') }),
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void simulator.close().then(() => process.exit(0));
  });

process.stdout.write(`The simulated institution is ready.
  API          ${simulator.baseUrl}
  control API  ${simulator.controlUrl}
  files        ${folder}

Connect Quita:
${simulator.clients.map((_, i) => `  ${providerAdd(simulator, i + 1)}\n`).join('')}
Pay a charge (its txid is in the institution's state, GET ${simulator.controlUrl}/state):
  curl -X POST ${simulator.controlUrl}/charges/<txid>/pay -d '{}'
`);
