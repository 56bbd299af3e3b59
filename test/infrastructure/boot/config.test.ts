// Every variable: its default, empty as unset, what is right, and what is wrong by name (decisions S1, S6).

import { resolve } from 'node:path';
import { expect } from 'chai';
import { type Config, ConfigError, loadConfig } from '../../../infrastructure/boot/config.ts';

const KEY = Buffer.from(Array.from({ length: 32 }, (_, n) => n * 7));
const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 3000,
  publicUrl: 'http://127.0.0.1:3000',
  dataDir: resolve('.data'),
  databaseUrl: null,
  eventStoreUrl: null,
  logLevel: 'info',
  rateLimitPerMinute: 600,
  webhookAllowPrivate: true,
  trustProxy: false,
  metricsToken: null,
  secretsKey: null,
};
const SECRETS_KEY = KEY.toString('base64');
const DATABASE_URL = 'postgres://quita@db.example.com/quita';

type Env = Record<string, string>;
const RIGHT: readonly (readonly [Env, Partial<Config>])[] = [
  [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', publicUrl: 'http://127.0.0.1:3000' }],
  [{ HOST: '::' }, { host: '::', publicUrl: 'http://127.0.0.1:3000' }],
  [{ HOST: '::1' }, { host: '::1', publicUrl: 'http://[::1]:3000' }],
  [{ HOST: 'pay.internal' }, { host: 'pay.internal', publicUrl: 'http://pay.internal:3000' }],
  [{ PORT: '1' }, { port: 1, publicUrl: 'http://127.0.0.1:1' }],
  [{ PORT: '65535' }, { port: 65_535, publicUrl: 'http://127.0.0.1:65535' }],
  [{ PUBLIC_URL: 'https://pay.example.com' }, { publicUrl: 'https://pay.example.com' }],
  [{ PUBLIC_URL: 'https://example.com/pay/' }, { publicUrl: 'https://example.com/pay' }],
  [{ DATA_DIR: '/var/lib/quita' }, { dataDir: '/var/lib/quita' }],
  [{ DATA_DIR: 'here' }, { dataDir: resolve('here') }],
  [
    { DATABASE_URL, SECRETS_KEY },
    { databaseUrl: DATABASE_URL, secretsKey: KEY, webhookAllowPrivate: false },
  ],
  [
    { DATABASE_URL: 'postgresql://localhost/q', SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true' },
    { databaseUrl: 'postgresql://localhost/q', secretsKey: KEY, webhookAllowPrivate: true },
  ],
  [{ SECRETS_KEY }, { secretsKey: KEY }],
  [{ NODE_ENV: 'production', SECRETS_KEY }, { secretsKey: KEY }],
  [{ NODE_ENV: 'test' }, {}],
  ...(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const).map(
    (logLevel) => [{ LOG_LEVEL: logLevel }, { logLevel }] as const,
  ),
  [{ RATE_LIMIT_PER_MINUTE: '0' }, { rateLimitPerMinute: 0 }],
  [{ RATE_LIMIT_PER_MINUTE: '1000000000' }, { rateLimitPerMinute: 1_000_000_000 }],
  [{ WEBHOOK_ALLOW_PRIVATE: 'false' }, { webhookAllowPrivate: false }],
  [{ TRUST_PROXY: 'false' }, { trustProxy: false }],
  [{ TRUST_PROXY: '1' }, { trustProxy: 1 }],
  [{ TRUST_PROXY: '99' }, { trustProxy: 99 }],
  [{ TRUST_PROXY: 'loopback, 10.0.0.0/8,fd00::/8' }, { trustProxy: 'loopback, 10.0.0.0/8,fd00::/8' }],
  [{ METRICS_TOKEN: '0123456789abcdef' }, { metricsToken: '0123456789abcdef' }],
];

const WRONG: { readonly [name: string]: readonly string[] } = {
  HOST: ['not an address', 'http://localhost', 'x'.repeat(256), '127.0.0.1/8'],
  PORT: ['0', '65536', '-1', '3000.5', '0x50', ' 3000', '3e3', 'http', '99999999999'],
  PUBLIC_URL: ['pay.example.com', 'ftp://x', 'http://', 'https://x/?a=1', 'https://x/#a', 'https://user@x/'],
  DATABASE_URL: ['mysql://x', 'localhost', 'postgres:/x', 'postgres://[', 'postgres//x'],
  EVENTSTORE_URL: ['x', 'http://localhost:2113', 'esdb://'],
  LOG_LEVEL: ['loud', 'INFO', 'constructor'],
  RATE_LIMIT_PER_MINUTE: ['-1', '1.5', '1000000001', 'none', '1e3'],
  WEBHOOK_ALLOW_PRIVATE: ['yes', '1', 'TRUE', '0'],
  TRUST_PROXY: [
    'true',
    '0',
    '100',
    'everybody',
    '10.0.0.0/8,',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0',
    'fd00::/129',
    '1/2/3',
    'proxy.example.com',
    '-1',
  ],
  METRICS_TOKEN: ['short', '0123456789abcde'],
  SECRETS_KEY: [
    'c2hvcnQ=',
    Buffer.alloc(31, 3).toString('base64'),
    Buffer.alloc(33, 3).toString('base64'),
    SECRETS_KEY.replace('=', ''),
    `${SECRETS_KEY}\n`,
    Buffer.alloc(32).toString('base64'),
    Buffer.from('abcdabcdabcdabcdabcdabcdabcdabcd').toString('base64'),
    'x'.repeat(43),
  ],
};

const failureOf = (env: Env): unknown => {
  try {
    return loadConfig(env);
  } catch (error) {
    return error;
  }
};

describe('configuration', () => {
  it('has a default for everything', () => expect(loadConfig({})).to.deep.equal(DEFAULTS));

  it('takes an empty variable as an unset one', () => {
    const names = [...Object.keys(WRONG), 'DATA_DIR', 'NODE_ENV'];
    for (const name of names) expect(loadConfig({ [name]: '' }), name).to.deep.equal(DEFAULTS);
    expect(loadConfig(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(DEFAULTS);
  });

  for (const [env, config] of RIGHT)
    it(`takes ${JSON.stringify(env).slice(0, 100)}`, () =>
      expect(loadConfig(env)).to.deep.equal({ ...DEFAULTS, ...config }));

  for (const [name, values] of Object.entries(WRONG))
    for (const value of values)
      it(`refuses ${name}=${JSON.stringify(value).slice(0, 60)} and names it in one line`, () => {
        const error = failureOf({ [name]: value });
        expect(error).to.be.instanceOf(ConfigError);
        expect((error as Error).message).to.match(new RegExp(`^${name} (must|is) [^\\n]+$`));
      });

  it('never shows a secret in what it says', () => {
    const secret = 'Zm9vYmFy0123456789';
    for (const name of ['SECRETS_KEY', 'DATABASE_URL'])
      expect((failureOf({ [name]: secret }) as Error).message, name).to.not.contain(secret);
  });

  for (const env of [{ NODE_ENV: 'production' }, { DATABASE_URL }, { DATABASE_URL, SECRETS_KEY: '' }])
    it(`wants SECRETS_KEY with ${JSON.stringify(env)} (S6)`, () => {
      const error = failureOf(env);
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as Error).message).to.match(/^SECRETS_KEY must be set in production: /);
    });
});
