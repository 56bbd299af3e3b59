// Runs the whole program through a broad scenario with failures, at log level trace. A secret appears only in the answer that hands it out,
// and in no log line or table. Payers’ data is in no log and on no page, and no stack trace is shown.
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver } from '../world/receiver.ts';

const SECRETS_KEY = randomBytes(32).toString('base64');
const METRICS_TOKEN = 'metrics-token-that-nobody-guesses';
const OWNER = { email: 'dona@example.com', password: 'a primeira senha da dona' };
const PASSWORDS = { wrong: 'uma senha errada demais', second: 'a segunda senha da dona', third: 'a terceira senha' };
const PAYER = {
  name: 'Benedita Aparecida',
  document: '12345678909',
  email: 'benedita@example.org',
  phone: '+5511987654321',
};
const OTHER_PAYER = { name: 'Clodoaldo Pereira', document: '99992222263' };
/** Part of the URL of the merchant’s own receiver. */
const HOOK_SECRET = 'hook-secret-in-the-url';
const STACK = /^\s+at |\\n\s+at |"stack":|node:internal|node_modules/m;

type Json = Record<string, unknown>;
interface Answer {
  /** Method and path of the request. */
  readonly of: string;
  readonly status: number;
  readonly body: Json;
  readonly text: string;
}

describe('a broad scenario with failures', function suite() {
  let database: TestDatabase;
  let sql: pg.Client;
  let dataDir: string;
  let program: Program;
  let receiver: Receiver;
  const answers: Answer[] = [];
  /** Each secret by name, with the only answer that may contain it; null means none may. */
  const secrets = new Map<string, { readonly text: string; readonly shownBy: Answer | null }>();
  const keep = (name: string, text: unknown, shownBy: Answer | null = null): string => {
    expect(text, name).to.be.a('string').with.length.of.at.least(8);
    secrets.set(`${name} ${secrets.size}`, { text: text as string, shownBy });
    return text as string;
  };

  const ask = async (
    method: string,
    path: string,
    { headers = {}, body, raw }: { headers?: Record<string, string>; body?: Json; raw?: string } = {},
  ): Promise<Answer> => {
    const payload = raw ?? (body && JSON.stringify(body));
    const answer = await fetch(program.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await answer.text();
    let parsed: Json = {};
    try {
      parsed = JSON.parse(text) as Json;
    } catch {
      // The answer is a page, an image or empty.
    }
    const heads = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const kept = { of: `${method} ${path}`, status: answer.status, body: parsed, text: `${heads}\n\n${text}` };
    answers.push(kept);
    return kept;
  };
  const made = async (...asked: Parameters<typeof ask>): Promise<Answer> => {
    const answer = await ask(...asked);
    expect(answer.status, answer.text).to.be.oneOf([200, 201, 202, 204]);
    return answer;
  };
  const logIn = async (password: string): Promise<{ authorization: string }> => {
    const answer = await made('POST', '/v1/auth/login', { body: { email: OWNER.email, password } });
    return { authorization: `Bearer ${keep('token', answer.body['token'], answer)}` };
  };

  before(async () => {
    [database, dataDir, receiver] = await Promise.all([
      emptyDatabase(),
      newDataDir(),
      Receiver.open((_hit, res, n) => void res.writeHead(n % 2 === 0 ? 500 : 200).end('no')),
    ]);
    sql = new pg.Client({ connectionString: database.connectionString });
    await sql.connect();
    const env = {
      DATABASE_URL: database.connectionString,
      SECRETS_KEY,
      METRICS_TOKEN,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'trace',
    };
    program = await new Program({ dataDir, port: await freePort(), env }).ready();
    const words = ['account', 'create', '--name', 'Loja', '--email', OWNER.email, '--password', OWNER.password];
    const account = (await cli(dataDir, words, env)) as Record<'testApiKey' | 'liveApiKey', string>;
    for (const key of [account.testApiKey, account.liveApiKey]) keep('first key', key);
    keep('SECRETS_KEY', SECRETS_KEY);
    keep('SECRETS_KEY in hex', Buffer.from(SECRETS_KEY, 'base64').toString('hex'));
    keep('METRICS_TOKEN', METRICS_TOKEN);
    const { password } = new URL(database.connectionString);
    if (password !== '') keep('password of the database', decodeURIComponent(password));
    for (const text of [OWNER.password, ...Object.values(PASSWORDS)]) keep('password', text);
    await tell({ apikey: account.testApiKey }, account.liveApiKey);
  });
  after(async () => {
    await program?.kill9();
    await receiver.close();
    await sql.end();
    await database.drop();
    await removeDataDir(dataDir);
  });

  const tell = async (key: { apikey: string }, liveKey: string): Promise<void> => {
    const session = await logIn(OWNER.password);
    await tellKeys(session);
    const page = await tellPayments(key);
    await tellWrongOnes(key, liveKey, page);
    await tellFaults(key, session);
    await tellPasswords(session);
  };

  const tellKeys = async (headers: { authorization: string }): Promise<void> => {
    const issued = await made('POST', '/v1/api-keys', { headers, body: { label: 'Caixa', test: true } });
    const first = keep('issued key', issued.body['apiKey'], issued);
    const rotated = await made('POST', `/v1/api-keys/${issued.body['id']}/rotate`, { headers, body: {} });
    const second = keep('rotated key', rotated.body['apiKey'], rotated);
    for (const apikey of [first, second]) await ask('GET', '/v1/wallets', { headers: { apikey } });
    await made('DELETE', `/v1/api-keys/${rotated.body['id']}`, { headers });
    await ask('GET', '/v1/wallets', { headers: { apikey: second } });
    await made('GET', '/v1/api-keys', { headers });
    await made('GET', '/v1/account', { headers });
  };

  /** Makes payments and returns the path of a payer’s page. */
  const tellPayments = async (headers: { apikey: string }): Promise<string> => {
    const hook = `${receiver.url}?token=${HOOK_SECRET}`;
    const endpoint = await made('POST', '/v1/webhooks/endpoints', { headers, body: { url: hook, events: ['*'] } });
    keep('webhook secret', endpoint.body['secret'], endpoint);
    const path = `/v1/webhooks/endpoints/${endpoint.body['id']}`;
    const swapped = await made('POST', `${path}/rotate-secret`, { headers, body: {} });
    keep('webhook secret', swapped.body['secret'], swapped);
    const override = await made('POST', '/v1/webhooks/override-secret/rotate', { headers, body: {} });
    keep('override secret', override.body['secret'], override);
    const charge = async (body: Json) =>
      (
        await made('POST', '/v1/charges', {
          headers: { ...headers, 'idempotency-key': `leaks-${answers.length}` },
          body: { amount: 5_000, payment_method: 'pix', customer: PAYER, ...body },
        })
      ).body['id'] as string;
    const pay = (id: string, body: Json) => made('POST', `/v1/sandbox/charges/${id}/pay`, { headers, body });
    const paid = await charge({});
    await pay(paid, {});
    const locked = await charge({ expected_payer_tax_id: PAYER.document });
    await pay(locked, { payer: OTHER_PAYER });
    const held = await charge({ expected_payer_tax_id: PAYER.document });
    await pay(held, { payer: { name: OTHER_PAYER.name, document: null } });
    for (const trouble of ['rejected', 'unavailable'])
      await ask('POST', '/v1/charges', {
        headers: { ...headers, 'idempotency-key': `trouble-${trouble}` },
        body: { amount: 1, payment_method: 'pix', customer: PAYER, metadata: { sandbox_provider: trouble } },
      });
    const raw = paid.slice('ch_'.length);
    for (const [n, more] of [
      { strategy: 'cashout' },
      { strategy: 'cashout', destinationKey: OTHER_PAYER.document },
      {},
    ].entries())
      await made('POST', `/v1/payments/${raw}/refund`, {
        headers,
        body: { amount: 100, idempotencyKey: `refund-of-leaks-${n}`, ...more },
      });
    await made('POST', '/v1/sandbox/clock/advance', { headers, body: { seconds: 7_200 } });
    await made('POST', '/v1/sandbox/deliveries/flush', { headers, body: {} });
    for (const read of [
      `/v1/payments/${raw}`,
      `/v1/payments/${raw}/receipt`,
      `/v1/payments/${raw}/provider-status`,
      '/v1/charges',
      '/v1/webhooks/deliveries',
      '/v1/webhooks/endpoints',
      '/v1/payments/stats',
    ])
      await made('GET', read, { headers });
    return `/pay/${raw}`;
  };

  /** Sends secrets in the wrong places, and requests that are rejected. */
  const tellWrongOnes = async (key: { apikey: string }, liveKey: string, page: string): Promise<void> => {
    for (const path of [
      page,
      `${page}/status`,
      `/pay/${'0'.repeat(26)}`,
      '/',
      '/docs',
      '/account/password',
      '/health/ready',
    ])
      await ask('GET', path);
    await ask('GET', '/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    await ask('GET', '/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}x` } });
    const token = (await logIn(OWNER.password)).authorization;
    const text = token.slice('Bearer '.length);
    for (const [path, headers] of [
      [`/v1/charges/${liveKey}`, key],
      [`/v1/charges?starting_after=${liveKey}`, key],
      [`/v1/wallets?apikey=${liveKey}`, {}],
      [`/v1/payments/${text}`, key],
      ['/v1/wallets', { authorization: `Bearer ${liveKey}` }],
      ['/v1/wallets', { apikey: text }],
      ['/v1/api-keys', { authorization: `Basic ${Buffer.from(`a:${liveKey}`).toString('base64')}` }],
      ['/v1/api-keys', { authorization: `${token}x` }],
    ] as const)
      await ask('GET', path, { headers });
    const { document } = PAYER;
    const headers = { ...key, 'idempotency-key': 'refused-of-leaks' };
    for (const raw of [
      `{"amount": 1, "payment_method": "pix", "customer": {"name": "${PAYER.name}", "document": "${document}"`,
      JSON.stringify({ amount: 'x', payment_method: 'pix', customer: { ...PAYER, document: `${document}0` } }),
      JSON.stringify({ amount: 1, payment_method: 'pix', expected_payer_tax_id: document, customer: OTHER_PAYER }),
      `{"amount": 1, "apikey": "${liveKey}", "x": "${'x'.repeat(70_000)}"}`,
    ])
      await ask('POST', '/v1/charges', { headers, raw });
    for (const raw of [
      `{"email": "${OWNER.email}", "password": "${PASSWORDS.wrong}`,
      JSON.stringify({ email: OWNER.email, password: PASSWORDS.wrong }),
      JSON.stringify({ email: 'ninguem@example.com', password: PASSWORDS.wrong }),
      JSON.stringify({ email: 1, password: PASSWORDS.wrong }),
      JSON.stringify({ email: OWNER.email, password: [PASSWORDS.wrong] }),
    ])
      expect((await ask('POST', '/v1/auth/login', { raw })).status).to.be.oneOf([400, 401]);
    for (const url of [`http://a:${liveKey}@127.0.0.1:1/`, `http://127.0.0.1:1/?token=${HOOK_SECRET}`, 'ftp://x'])
      await ask('POST', '/v1/webhooks/endpoints', { headers: key, body: { url, events: ['*'] } });
  };

  /** Sends requests while a table is missing, and after connections were cut. */
  const tellFaults = async (key: { apikey: string }, session: { authorization: string }): Promise<void> => {
    for (const [table, method, path, headers, body] of [
      ['operations.sessions', 'GET', '/v1/api-keys', session, undefined],
      ['operations.passwords', 'POST', '/v1/auth/login', {}, { email: OWNER.email, password: OWNER.password }],
      ['rm_payments.payments', 'GET', '/v1/charges', key, undefined],
      ['operations.webhook_secrets', 'POST', '/v1/webhooks/endpoints', key, { url: receiver.url, events: ['*'] }],
    ] as const) {
      const [schema, name] = table.split('.');
      await sql.query(`ALTER TABLE ${table} RENAME TO lost`);
      expect((await ask(method, path, { headers, ...(body && { body }) })).status, table).to.be.within(500, 503);
      await sql.query(`ALTER TABLE ${schema}.lost RENAME TO ${name}`);
    }
    await sql.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    // Clients retry until the database is back.
    while ((await ask('GET', '/v1/wallets', { headers: key })).status !== 200);
    while ((await ask('GET', '/v1/account', { headers: session })).status !== 200);
  };

  const tellPasswords = async (session: { authorization: string }): Promise<void> => {
    await made('POST', '/v1/auth/password', {
      headers: session,
      body: { current_password: OWNER.password, new_password: PASSWORDS.second },
    });
    await logIn(PASSWORDS.second);
    await made('POST', '/v1/auth/password-reset', { body: { email: OWNER.email } });
    const link = await linkSent();
    const set = () => ask('POST', '/account/password', { body: { token: link, password: PASSWORDS.third } });
    expect([(await set()).status, (await set()).status]).to.deep.equal([204, 400]);
    const last = await logIn(PASSWORDS.third);
    await made('POST', '/v1/auth/logout', { headers: last });
    await ask('GET', '/v1/account', { headers: last });
  };

  /** Returns the token after the # of the only link that was mailed. */
  const linkSent = async (): Promise<string> => {
    for (;;) {
      const [file] = await readdir(join(dataDir, 'outbox')).catch(() => []);
      if (file?.endsWith('.eml')) {
        const mail = (await readFile(join(dataDir, 'outbox', file), 'utf8')).replaceAll('=\n', '');
        return keep('link', /#([\w-]{43})/.exec(mail)?.[1]);
      }
    }
  };

  it('shows each secret only in the answer that hands it out', () => {
    expect(answers.length).to.be.above(60);
    for (const [name, { text, shownBy }] of secrets)
      expect(
        answers.filter((answer) => answer.text.includes(text) && answer !== shownBy).map(({ of }) => of),
        name,
      ).to.deep.equal([]);
  });
  it('shows no stack trace in answers, and no payer data on pages or in rejections', () => {
    for (const { of, text, status } of answers) {
      expect(STACK.exec(text)?.[0], of).to.equal(undefined);
      if (!of.includes(' /pay/') && status < 400) continue;
      for (const personal of [...Object.values(PAYER), ...Object.values(OTHER_PAYER)])
        expect(text.includes(personal), `${of} shows ${personal}`).to.equal(false);
    }
  });
  it('logs no secret, stack trace, payer data or receiver URL secret', () => {
    const { output } = program;
    expect(output.match(/"level":/g)?.length).to.be.above(10);
    const texts = [...secrets.values()].map(({ text }) => text);
    for (const text of [...texts, ...Object.values(PAYER), ...Object.values(OTHER_PAYER), OWNER.email, HOOK_SECRET])
      expect(
        output.split('\n').filter((line) => line.includes(text)),
        text,
      ).to.deep.equal([]);
    expect(output.split('\n').filter((line) => STACK.test(line))).to.deep.equal([]);
  });
  it('stores no secret in clear text in any table', async () => {
    const { rows: tables } = await sql.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).to.be.above(30);
    for (const { name: table } of tables) {
      const { rows } = await sql.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t`);
      const all = rows.map(({ row }) => row).join('\n');
      for (const [name, { text }] of secrets) {
        expect(all.includes(text), `${table} holds ${name}`).to.equal(false);
        // Bytes are printed in hex.
        expect(all.includes(Buffer.from(text).toString('hex')), `${table} holds ${name} as bytes`).to.equal(false);
      }
    }
  });
});
