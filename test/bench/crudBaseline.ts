// The counterpart of POST /v1/charges: a CRUD gateway with the same interface, as fast as we can make it. It uses Express 5, pg with
// prepared statements, and one transaction of three statements per charge. It validates with the same schema, authenticates by key, rejects
// a reused idempotency key, writes the same BR code and returns the same body. It keeps no history and no ledger, and sends no webhooks.
import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import express, { type Request, type Response } from 'express';
import pg from 'pg';
import type { ChargeBody } from '../../domain/charge/request.ts';
import { encodeRawId } from '../../domain/kernel/ids.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { buildDynamicBrCode } from '../../domain/pix/brCode.ts';
import { createChargeBody } from '../../http/api/payments/chargeSchema.ts';
import { startEmbeddedPostgres } from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';

export interface BaselineReady {
  readonly port: number;
  readonly apiKey: string;
}
/** Sets the size of the pool, which is one of the tuned parameters. */
export interface BaselineOrder {
  readonly poolSize: number;
}

const TABLES = `
  CREATE TABLE api_keys (fingerprint text PRIMARY KEY, account_id text NOT NULL);
  CREATE TABLE idempotency_keys (account_id text, key text, fingerprint text NOT NULL, response text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key));
  CREATE TABLE charges (id text PRIMARY KEY, account_id text NOT NULL, amount bigint NOT NULL, currency text NOT NULL, status text NOT NULL,
    customer jsonb NOT NULL, metadata jsonb NOT NULL, txid text NOT NULL, br_code text NOT NULL,
    expires_at timestamptz NOT NULL, created_at timestamptz NOT NULL);
  CREATE INDEX ON charges (account_id, created_at DESC, id);
  CREATE INDEX ON charges (expires_at) WHERE status = 'pending';`;

const RESERVE = {
  name: 'reserve',
  text: 'INSERT INTO idempotency_keys (account_id, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
};
const INSERT = {
  name: 'insert',
  text: `INSERT INTO charges (id, account_id, amount, currency, status, customer, metadata, txid, br_code, expires_at, created_at)
    VALUES ($1, $2, $3, 'BRL', 'pending', $4, $5, $6, $7, $8, $9)`,
};
const REMEMBER = {
  name: 'remember',
  text: 'UPDATE idempotency_keys SET response = $3 WHERE account_id = $1 AND key = $2',
};
const ORIGINAL = {
  name: 'original',
  text: 'SELECT fingerprint, response FROM idempotency_keys WHERE account_id = $1 AND key = $2',
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');
const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false }).compile(createChargeBody);

const chargeOf = (body: ChargeBody, baseUrl: string) => {
  const id = encodeRawId(randomBytes(16));
  const txid = randomBytes(16).toString('hex');
  const now = Date.now();
  const amount = toMinor(body.amount);
  const url = `127.0.0.1/pix/${txid}`;
  const { name = null, document = null, email = null, phone = null } = body.customer ?? {};
  const checkoutUrl = `${baseUrl}/pay/${id}`;
  return {
    id: `ch_${id}`,
    object: 'charge',
    amount,
    currency: 'BRL',
    status: 'pending',
    payment_method: 'pix',
    customer: { name, document, email, phone },
    pix: {
      br_code: buildDynamicBrCode({ url, merchantName: 'Loja Demo', merchantCity: 'Sao Paulo', amount }),
      qr_code_url: `${checkoutUrl}/qr.png`,
      expires_at: new Date(now + (body.expires_in ?? 3_600) * 1_000).toISOString(),
      txid,
    },
    checkout_url: checkoutUrl,
    settlement: {},
    metadata: { ...body.metadata, ...(body.description !== undefined && { description: body.description }) },
    created_at: new Date(now).toISOString(),
  };
};

const accountId = encodeRawId(randomBytes(16));
const apiKey = `ak_test_${randomBytes(24).toString('base64url')}`;
const accounts = new Map<string, string>();
let pool: pg.Pool;
let baseUrl = '';

/** Returns the key’s account, which is read once and cached, as in the gateway. */
const accountOf = async (key: string): Promise<string | undefined> => {
  const fingerprint = sha256(key);
  const known = accounts.get(fingerprint);
  if (known !== undefined) return known;
  const { rows } = await pool.query<{ account_id: string }>('SELECT account_id FROM api_keys WHERE fingerprint = $1', [
    fingerprint,
  ]);
  if (rows[0]) accounts.set(fingerprint, rows[0].account_id);
  return rows[0]?.account_id;
};

const send = (res: Response, status: number, json: string): void => {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(json);
};
const refuse = (res: Response, status: number, code: string): void =>
  send(res, status, JSON.stringify({ error: { code } }));

const create = async (req: Request, res: Response): Promise<void> => {
  const account = await accountOf(String(req.headers['apikey']));
  if (account === undefined) return refuse(res, 401, 'unauthorized');
  if (!validate(req.body)) return refuse(res, 400, 'invalid_request');
  const key = req.headers['idempotency-key'];
  if (typeof key !== 'string') return refuse(res, 400, 'idempotency_key_required');
  const body = req.body as unknown as ChargeBody;
  const fingerprint = sha256(JSON.stringify(body));
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query({ ...RESERVE, values: [account, key, fingerprint] });
    if (rowCount === 0) {
      await client.query('ROLLBACK');
      const { rows } = await client.query<{ fingerprint: string; response: string }>({
        ...ORIGINAL,
        values: [account, key],
      });
      return rows[0]?.fingerprint === fingerprint
        ? send(res, 201, rows[0].response)
        : refuse(res, 409, 'idempotency_key_reused');
    }
    const charge = chargeOf(body, baseUrl);
    const { id, amount, customer, metadata, pix, created_at } = charge;
    const values = [
      id,
      account,
      amount,
      JSON.stringify(customer),
      JSON.stringify(metadata),
      pix.txid,
      pix.br_code,
      pix.expires_at,
      created_at,
    ];
    await client.query({ ...INSERT, values });
    const response = JSON.stringify(charge);
    await client.query({ ...REMEMBER, values: [account, key, response] });
    await client.query('COMMIT');
    send(res, 201, response);
  } finally {
    client.release();
  }
};

const postgres = await startEmbeddedPostgres({ dataDir: process.argv[2] as string });
const openPool = (max: number) =>
  new pg.Pool({ connectionString: postgres.connectionString, max, idleTimeoutMillis: 0 });
pool = openPool(16);
await pool.query(TABLES);
await pool.query('INSERT INTO api_keys VALUES ($1, $2)', [sha256(apiKey), accountId]);
const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.use(express.json({ limit: 65_536 }));
app.post('/v1/charges', create);
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  baseUrl = `http://127.0.0.1:${port}`;
  process.send?.({ port, apiKey } satisfies BaselineReady);
});
process.on('message', async ({ poolSize }: BaselineOrder) => {
  const before = pool;
  pool = openPool(poolSize);
  await before.end();
  process.send?.({ charges: Number((await pool.query('SELECT count(*) FROM charges')).rows[0].count) });
});
process.on('disconnect', async () => {
  server.closeAllConnections();
  await pool.end();
  await postgres.stop();
  process.exit(0);
});
