// Every variable: its default, an empty value, valid values, and invalid values, which errors name (rules S1, S6).

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { noteKeyOf, vkeyOf } from '../../../application/audit/signedNote.ts';
import { type Config, ConfigError, loadConfig, loadToolConfig } from '../../../infrastructure/config/config.ts';

const OTHER = randomBytes(32);
const KEY = randomBytes(32);
const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 3000,
  opsListener: null,
  publicUrl: 'http://127.0.0.1:3000',
  dataDir: resolve('.data'),
  isProduction: false,
  allowPlainConnections: false,
  databaseUrl: null,
  eventStoreUrl: null,
  logLevel: 'info',
  rateLimitPerMinute: 600,
  webhookRetentionDays: 90,
  requestLogDays: 30,
  retentionYears: 5,
  eraseAfterRetention: false,
  webhookAllowPrivate: true,
  trustProxy: false,
  clientCertificateHeader: null,
  metricsToken: null,
  evidenceStorage: null,
  evidenceGrantSeconds: 900,
  evidenceViewSeconds: 300,
  evidenceFreeSpace: 1_000_000_000,
  smtpUrl: null,
  mailFrom: 'quita@localhost',
  apiKey: null,
  secretsKey: null,
  secretsKeyFallbacks: [],
  audit: { isPublic: false, witnesses: [], anchors: [], inWebhooks: false },
};
const S3 = { bucket: 'files', prefix: '', region: null, endpoint: null };
const WITNESS = vkeyOf(noteKeyOf('witness.example.com', Buffer.alloc(32, 7), 'cosignature'));
const SECRETS_KEY = KEY.toString('base64');
const DATABASE_URL = 'postgres://quita@db.example.com/quita?sslmode=verify-full';
const PRODUCTION = { isProduction: true, webhookAllowPrivate: false, secretsKey: KEY };
const IN_PRODUCTION = { NODE_ENV: 'production', SECRETS_KEY };

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
    { ...PRODUCTION, databaseUrl: DATABASE_URL },
  ],
  [
    { DATABASE_URL: 'postgresql://localhost/q', SECRETS_KEY, WEBHOOK_ALLOW_PRIVATE: 'true' },
    { ...PRODUCTION, databaseUrl: 'postgresql://localhost/q', webhookAllowPrivate: true },
  ],
  [{ ALLOW_PLAIN_CONNECTIONS: 'true' }, { allowPlainConnections: true }],
  [{ SECRETS_KEY }, { secretsKey: KEY }],
  [
    { SECRETS_KEY, SECRETS_KEY_FALLBACKS: OTHER.toString('base64') },
    { secretsKey: KEY, secretsKeyFallbacks: [OTHER] },
  ],
  [
    { SECRETS_KEY, SECRETS_KEY_FALLBACKS: `${OTHER.toString('base64')}, ${SECRETS_KEY}` },
    { secretsKey: KEY, secretsKeyFallbacks: [OTHER, KEY] },
  ],
  [IN_PRODUCTION, PRODUCTION],
  [{ NODE_ENV: 'test' }, {}],
  ...(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const).map(
    (logLevel) => [{ LOG_LEVEL: logLevel }, { logLevel }] as const,
  ),
  [{ RATE_LIMIT_PER_MINUTE: '0' }, { rateLimitPerMinute: 0 }],
  [{ RATE_LIMIT_PER_MINUTE: '1000000000' }, { rateLimitPerMinute: 1_000_000_000 }],
  [{ RETENTION_YEARS: '0' }, { retentionYears: 0 }],
  [{ RETENTION_YEARS: '100' }, { retentionYears: 100 }],
  [{ ERASE_AFTER_RETENTION: 'true' }, { eraseAfterRetention: true }],
  [{ WEBHOOK_RETENTION_DAYS: '1' }, { webhookRetentionDays: 1 }],
  [{ REQUEST_LOG_DAYS: '1' }, { requestLogDays: 1 }],
  [{ WEBHOOK_RETENTION_DAYS: '36500' }, { webhookRetentionDays: 36_500 }],
  [{ EVIDENCE_STORAGE: 's3://files' }, { evidenceStorage: S3 }],
  [{ EVIDENCE_STORAGE: 's3://files/quita/live/' }, { evidenceStorage: { ...S3, prefix: 'quita/live/' } }],
  [
    { EVIDENCE_STORAGE: 's3://files?region=sa-east-1&endpoint=http://127.0.0.1:9000' },
    { evidenceStorage: { ...S3, region: 'sa-east-1', endpoint: 'http://127.0.0.1:9000' } },
  ],
  [{ EVIDENCE_GRANT_SECONDS: '1' }, { evidenceGrantSeconds: 1 }],
  [{ EVIDENCE_GRANT_SECONDS: '43200' }, { evidenceGrantSeconds: 43_200 }],
  [{ EVIDENCE_VIEW_SECONDS: '43200' }, { evidenceViewSeconds: 43_200 }],
  [{ EVIDENCE_FREE_SPACE: '0' }, { evidenceFreeSpace: 0 }],
  [{ EVIDENCE_FREE_SPACE: '9007199254740991' }, { evidenceFreeSpace: 9_007_199_254_740_991 }],
  [{ WEBHOOK_ALLOW_PRIVATE: 'false' }, { webhookAllowPrivate: false }],
  [{ TRUST_PROXY: 'false' }, { trustProxy: false }],
  [{ TRUST_PROXY: '1' }, { trustProxy: 1 }],
  [
    { TRUST_PROXY: '1', CLIENT_CERTIFICATE_HEADER: 'X-Client-Verify=SUCCESS' },
    { trustProxy: 1, clientCertificateHeader: { name: 'X-Client-Verify', value: 'SUCCESS' } },
  ],
  [{ TRUST_PROXY: '99' }, { trustProxy: 99 }],
  [{ TRUST_PROXY: 'loopback, 10.0.0.0/8,fd00::/8' }, { trustProxy: 'loopback, 10.0.0.0/8,fd00::/8' }],
  ...['172.64.0.0/13, 2a06:98c0::/29', '64.0.0.0/6', '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16', '10.0.0.7', '::1'].map(
    (trustProxy) => [{ TRUST_PROXY: trustProxy }, { trustProxy }] as const,
  ),
  [
    { AUDIT_ANCHORS: '/var/checkpoints, https://anchor.example.com/a,mailto:a@example.com,b@example.com' },
    {
      audit: {
        ...DEFAULTS.audit,
        anchors: ['/var/checkpoints', 'https://anchor.example.com/a', 'mailto:a@example.com', 'b@example.com'],
      },
    },
  ],
  [{ AUDIT_WITNESSES: WITNESS }, { audit: { ...DEFAULTS.audit, witnesses: [WITNESS] } }],
  [{ OPS_PORT: '3001' }, { opsListener: { host: '127.0.0.1', port: 3001 } }],
  [{ OPS_PORT: '1', OPS_HOST: '::1' }, { opsListener: { host: '::1', port: 1 } }],
  [{ OPS_PORT: '3000', OPS_HOST: '10.0.0.1' }, { opsListener: { host: '10.0.0.1', port: 3000 } }],
  [{ METRICS_TOKEN: '0123456789abcdef' }, { metricsToken: '0123456789abcdef' }],
  [{ API_KEY: `ak_test_${'aB3-_678'.repeat(4)}` }, { apiKey: `ak_test_${'aB3-_678'.repeat(4)}` }],
];

const WRONG: { readonly [name: string]: readonly string[] } = {
  HOST: ['not an address', 'http://localhost', 'x'.repeat(256), '127.0.0.1/8'],
  PORT: ['0', '65536', '-1', '3000.5', '0x50', ' 3000', '3e3', 'http', '99999999999'],
  PUBLIC_URL: [
    ...['pay.example.com', 'ftp://x', 'http://', 'https://x/?a=1', 'https://x/#a', 'https://user@x/'],
    ...['https://x/?', 'https://x/#', 'https://:password@x/'],
  ],
  DATABASE_URL: ['mysql://x', 'localhost', 'postgres:/x', 'postgres://[', 'postgres//x'],
  EVENTSTORE_URL: ['x', 'http://localhost:2113', 'esdb://'],
  LOG_LEVEL: ['loud', 'INFO', 'constructor'],
  OPS_HOST: ['not an address', '127.0.0.1/8'],
  OPS_PORT: ['0', '65536', '-1', 'x', '3000'],
  RATE_LIMIT_PER_MINUTE: ['-1', '1.5', '1000000001', 'none', '1e3'],
  ALLOW_PLAIN_CONNECTIONS: ['yes', '1', 'TRUE', '0'],
  RETENTION_YEARS: ['-1', '101', '1.5', 'forever'],
  ERASE_AFTER_RETENTION: ['yes', '1'],
  WEBHOOK_RETENTION_DAYS: ['0', '-1', '36501', '1.5', 'forever'],
  EVIDENCE_STORAGE: [
    'files',
    's3://',
    's3://F',
    's3:///files',
    's3://files?key=1',
    's3://files?endpoint=files',
    'https://s3/files',
  ],
  AUDIT_PUBLIC_CHECKPOINTS: ['yes', '1'],
  AUDIT_WITNESSES: [
    'witness.example.com',
    `witness.example.com+00000000+B${'A'.repeat(43)}`,
    vkeyOf(noteKeyOf('witness.example.com', Buffer.alloc(32, 7))),
  ],
  AUDIT_ANCHORS: [
    'http://anchor.example.com',
    'https://',
    's3://bucket/key',
    'file:///var/checkpoints',
    'mailto:nobody',
  ],
  AUDIT_CHECKPOINT_HEADER: ['yes', '1'],
  EVIDENCE_GRANT_SECONDS: ['0', '-1', '43201', '1.5', 'short'],
  EVIDENCE_VIEW_SECONDS: ['0', '-1', '43201', '1.5', 'short'],
  EVIDENCE_FREE_SPACE: ['-1', '1.5', '1GB', '9007199254740992', '99999999999999999'],
  WEBHOOK_ALLOW_PRIVATE: ['yes', '1', 'TRUE', '0'],
  CLIENT_CERTIFICATE_HEADER: [
    'X-Client-Verify',
    'X Y=SUCCESS',
    '=SUCCESS',
    'X-Client-Verify=',
    'X-Client-Verify=SUCCESS',
  ],
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
    '0.0.0.0/0',
    '::/0',
    'loopback,0.0.0.0/0',
    '0.0.0.0/1,128.0.0.0/1',
    '10.0.0.0/8,128.0.0.0/4',
    '::/80',
    '::/1,8000::/1',
    '2000::/3',
    '2000::/7',
    '64.0.0.0/6,68.0.0.0/6,72.0.0.0/6,72.0.0.0/5',
    '::ffff:10.0.0.0/104',
    '::ffff:10.0.0.1',
    'fe80::1%eth0',
    'proxy.example.com',
    '-1',
  ],
  METRICS_TOKEN: ['short', '0123456789abcde', '0123456789abcdef\n', '01234567 89abcdef', '0123456789abcdeé'],
  API_KEY: [
    'x',
    `ak_test_${'a'.repeat(31)}`,
    `ak_test_${'a'.repeat(33)}`,
    `ak_prod_${'a'.repeat(32)}`,
    ` ak_test_${'a'.repeat(32)}`,
  ],
  SECRETS_KEY: [
    'c2hvcnQ=',
    Buffer.alloc(31, 3).toString('base64'),
    Buffer.alloc(33, 3).toString('base64'),
    SECRETS_KEY.replace('=', ''),
    `${SECRETS_KEY}\n`,
    'x'.repeat(43),
  ],
  SECRETS_KEY_FALLBACKS: [SECRETS_KEY],
};

const failureOf = (env: Env): unknown => {
  try {
    return loadConfig(env);
  } catch (error) {
    return error;
  }
};

describe('configuration', () => {
  it('has a default for every variable', () => expect(loadConfig({})).to.deep.equal(DEFAULTS));

  it('treats an empty variable as unset', () => {
    const names = [...Object.keys(WRONG), 'DATA_DIR', 'NODE_ENV'];
    for (const name of names) expect(loadConfig({ [name]: '' }), name).to.deep.equal(DEFAULTS);
    expect(loadConfig(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(DEFAULTS);
  });

  for (const [env, config] of RIGHT)
    it(`accepts ${JSON.stringify(env).slice(0, 100)}`, () =>
      expect(loadConfig(env)).to.deep.equal({ ...DEFAULTS, ...config }));

  for (const [name, values] of Object.entries(WRONG))
    for (const value of values)
      it(`rejects ${name}=${JSON.stringify(value).slice(0, 60)} and names it in one line`, () => {
        const error = failureOf({ ...(name === 'OPS_HOST' && { OPS_PORT: '3001' }), [name]: value });
        expect(error).to.be.instanceOf(ConfigError);
        expect((error as Error).message).to.match(new RegExp(`^${name} (must|is) [^\\n]+$`));
      });

  it('rejects fallback keys if one of them is invalid', () => {
    for (const text of ['x', `${SECRETS_KEY},`, `${SECRETS_KEY},c2hvcnQ=`])
      expect((failureOf({ SECRETS_KEY, SECRETS_KEY_FALLBACKS: text }) as Error).message).to.match(
        /^SECRETS_KEY_FALLBACKS (must|is) /,
      );
  });

  it('accepts a predictable fallback key, so that a deployment can rotate away from it', () => {
    const counted = Buffer.from(Array.from({ length: 32 }, (_, n) => n));
    const { secretsKeyFallbacks } = loadConfig({
      ...IN_PRODUCTION,
      SECRETS_KEY_FALLBACKS: counted.toString('base64'),
    });
    expect(secretsKeyFallbacks).to.deep.equal([counted]);
  });

  it('requires OPS_PORT with OPS_HOST', () => {
    expect(saidOf({ OPS_HOST: '127.0.0.1' })).to.equal('OPS_PORT must be set with OPS_HOST');
  });

  it('shows no secrets in error messages', () => {
    const secret = 'Zm9vYmFy0123456789';
    for (const name of ['SECRETS_KEY', 'DATABASE_URL'])
      expect((failureOf({ [name]: secret }) as Error).message, name).to.not.contain(secret);
  });

  for (const env of [{ NODE_ENV: 'production' }, { DATABASE_URL }, { DATABASE_URL, SECRETS_KEY: '' }])
    it(`requires SECRETS_KEY with ${JSON.stringify(env)} (S6)`, () => {
      const error = failureOf(env);
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as Error).message).to.match(/^SECRETS_KEY must be set in production: /);
    });

  it('doesn’t require SECRETS_KEY for tools, and generates none', () => {
    expect(loadToolConfig({ DATABASE_URL })).to.include({ isProduction: true, secretsKey: null });
    expect(loadToolConfig({ DATABASE_URL, SECRETS_KEY }).secretsKey).to.deep.equal(KEY);
  });

  const saidOf = (env: Env): string => {
    const failure = failureOf(env);
    return failure instanceof ConfigError ? failure.message : 'taken';
  };
  const LOOPBACK = ['localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '[::1]'];
  const ELSEWHERE = [
    'pay.example.com',
    '10.0.0.5',
    '192.168.1.1',
    '0.0.0.0',
    '[fd00::1]',
    'localhost.example.com',
    '128.0.0.1',
  ];

  describe('in production', () => {
    it('requires https for an S3-compatible storage on another host', () => {
      const at = (endpoint: string, more: Env = {}) =>
        loadConfig({ ...IN_PRODUCTION, ...more, EVIDENCE_STORAGE: `s3://files?endpoint=${endpoint}` }).evidenceStorage;
      expect(() => at('http://s3.example.com')).to.throw(
        ConfigError,
        /^EVIDENCE_STORAGE must have an https endpoint, or, in a private network/,
      );
      for (const endpoint of ['https://s3.example.com', 'http://127.0.0.1:9000'])
        expect(at(endpoint)?.endpoint).to.equal(endpoint);
      expect(at('http://s3.example.com', { ALLOW_PLAIN_CONNECTIONS: 'true' })?.endpoint).to.equal(
        'http://s3.example.com',
      );
    });
    const publicUrl = (PUBLIC_URL: string) => saidOf({ ...IN_PRODUCTION, PUBLIC_URL });
    const postgres = (url: string, more: Env = {}) => saidOf({ SECRETS_KEY, DATABASE_URL: url, ...more });
    const eventStore = (EVENTSTORE_URL: string, more: Env = IN_PRODUCTION) => saidOf({ ...more, EVENTSTORE_URL });
    const PLAIN = { ALLOW_PLAIN_CONNECTIONS: 'true' };

    for (const host of ELSEWHERE) {
      it(`requires https and TLS for ${host}`, () => {
        expect(publicUrl(`http://${host}/pay`)).to.match(/^PUBLIC_URL must be https in production/);
        expect(publicUrl(`https://${host}/pay`)).to.equal('taken');
        expect(saidOf({ PUBLIC_URL: `http://${host}` })).to.equal('taken');
        for (const query of [
          '',
          '?sslmode=disable',
          '?sslmode=prefer',
          '?sslmode=allow',
          '?sslmode=no-verify',
          '?ssl=0',
        ])
          expect(postgres(`postgres://a:b@${host}/c${query}`), query).to.match(
            /^DATABASE_URL must use TLS to another host/,
          );
        for (const query of [
          '?sslmode=require',
          '?sslmode=verify-ca',
          '?sslmode=verify-full',
          '?ssl=true',
          '?a=b&sslmode=require&c=d',
        ])
          expect(postgres(`postgres://a:b@${host}/c${query}`), query).to.equal('taken');
        expect(postgres(`postgres://a:b@${host}/c`, PLAIN)).to.equal('taken');
        expect(postgres(`postgres://a:b@localhost/c?host=${host}`)).to.match(/^DATABASE_URL must use TLS/);
        if (host.startsWith('[')) return; // the client of EventStoreDB doesn't accept such an address
        expect(eventStore(`esdb://a:b@${host}:2113?tls=false`)).to.match(/^EVENTSTORE_URL must use TLS/);
        expect(eventStore(`esdb://a:b@127.0.0.1:2113,${host}:2113?tls=false`)).to.match(/^EVENTSTORE_URL must use TLS/);
        expect(eventStore(`esdb://a:b@${host}:2113?tls=false`, { ...IN_PRODUCTION, ...PLAIN })).to.equal('taken');
        expect(eventStore(`esdb://a:b@${host}:2113?tls=false`, {})).to.equal('taken');
        for (const right of [`esdb://a:b@${host}:2113`, `esdb+discover://a:b@${host}:2113?tls=true`])
          expect(eventStore(right), right).to.equal('taken');
      });
    }
    it('rejects RATE_LIMIT_PER_MINUTE=0', () => {
      const RATE_LIMIT_PER_MINUTE = '0';
      for (const env of [IN_PRODUCTION, { DATABASE_URL, SECRETS_KEY }])
        expect(saidOf({ ...env, RATE_LIMIT_PER_MINUTE })).to.match(
          /^RATE_LIMIT_PER_MINUTE must be at least 1 in production/,
        );
      expect(saidOf({ ...IN_PRODUCTION, RATE_LIMIT_PER_MINUTE: '1' })).to.equal('taken');
    });
    it('requires a random METRICS_TOKEN', () => {
      for (const METRICS_TOKEN of ['x'.repeat(16), 'abcdabcdabcdabcd']) {
        expect(saidOf({ ...IN_PRODUCTION, METRICS_TOKEN })).to.match(/^METRICS_TOKEN must be random/);
        expect(saidOf({ METRICS_TOKEN })).to.equal('taken');
      }
    });
    it('rejects EventStoreDB’s default password on another host', () => {
      for (const user of ['admin', 'ops', 'quita']) {
        const url = `esdb+discover://${user}:changeit@db.example.com:2113?tls=true`;
        expect(eventStore(url)).to.match(/^EVENTSTORE_URL must not use EventStoreDB’s default password/);
        expect(eventStore(url, {})).to.equal('taken');
        expect(eventStore(url.replace('changeit', 'changed'))).to.equal('taken');
        expect(eventStore(url.replace('db.example.com', 'localhost'))).to.equal('taken');
      }
    });
    for (const host of LOOPBACK)
      it(`requires neither https nor TLS for ${host}`, () => {
        expect(publicUrl(`http://${host}:3000`)).to.equal('taken');
        expect(postgres(`postgres://a:b@${host}/c`)).to.equal('taken');
        if (!host.startsWith('[')) expect(eventStore(`esdb://a:b@${host}:2113?tls=false`)).to.equal('taken');
      });
    it('requires no TLS for a Unix socket', () => {
      for (const url of [
        'postgres:///c?host=/run/postgresql',
        'postgres://a:b@/c?host=/run/postgresql',
        'postgres://a@%2Frun%2Fpostgresql/c',
      ])
        expect(postgres(url), url).to.equal('taken');
    });
    it('requires https in PUBLIC_URL if HOST is a specific address, but not if it is a wildcard', () => {
      expect(saidOf({ ...IN_PRODUCTION, HOST: '10.0.0.5' })).to.match(/^PUBLIC_URL must be https/);
      expect(saidOf({ ...IN_PRODUCTION, HOST: '0.0.0.0' })).to.equal('taken');
    });
    it('shows no password in error messages, and reports missing certificate files', () => {
      for (const said of [
        postgres('postgres://a:geheim@db.example.com/c'),
        eventStore('esdb://a:geheim@es.example.com?tls=false'),
      ])
        expect(said).to.not.contain('geheim');
      for (const more of [{}, PLAIN])
        expect(postgres('postgres://a:b@localhost/c?sslrootcert=/nowhere/ca.pem', more)).to.match(
          /^DATABASE_URL must be .* certificate files$/,
        );
    });
    it('prints no other warnings about sslmode values without verification', async () => {
      const warnings: string[] = [];
      const onWarning = ({ message }: Error) => void warnings.push(message);
      process.on('warning', onWarning);
      for (const mode of ['prefer', 'allow', 'no-verify', 'require'])
        for (const host of ['db.example.com', 'localhost'])
          saidOf({ SECRETS_KEY, DATABASE_URL: `postgres://${host}/c?sslmode=${mode}` });
      await new Promise((resolve) => setImmediate(resolve)); // Node emits warnings in a later tick
      process.off('warning', onWarning);
      expect(warnings).to.deep.equal([]);
    });
    it('passes sslmode=require on as verify-full', () => {
      for (const mode of ['require', 'verify-ca', 'verify-full'])
        expect(
          loadConfig({ SECRETS_KEY, DATABASE_URL: `postgres://a:b@c/d?sslmode=${mode}&x=y` }).databaseUrl,
        ).to.equal('postgres://a:b@c/d?sslmode=verify-full&x=y');
    });
  });
});
