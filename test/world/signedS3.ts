// An S3 server in this process that verifies presigned URLs, as Amazon does. The package's own server accepts any signature.
import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

const KEY_ID = 'S3RVER';
const SECRET = 'S3RVER';
export const BUCKET = 'evidence';

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns whether the request matches its URL's signature (Signature Version 4, "authenticating requests: query parameters"). */
const isAsSigned = ({ method, url, headers }: IncomingMessage, now: number): boolean => {
  const { pathname, searchParams } = new URL(url ?? '', 'http://s3');
  const param = (name: string): string => searchParams.get(`X-Amz-${name}`) ?? '';
  const [, date = '', region = '', service = ''] = param('Credential').split('/');
  const signed = param('SignedHeaders').split(';');
  const query = [...searchParams].filter(([name]) => name !== 'X-Amz-Signature').sort(([a], [b]) => (a < b ? -1 : 1));
  const canonical = [
    method,
    pathname,
    query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&'),
    ...signed.map((name) => `${name}:${headers[name] ?? ''}`),
    '',
    signed.join(';'),
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, date), region), service), 'aws4_request');
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${param('Date')}\n${scope}\n${hash}`).toString('hex');
  const signedAt = Date.parse(param('Date').replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
  return signature === param('Signature') && now < signedAt + Number(param('Expires')) * 1_000;
};

export interface SignedS3 {
  readonly endpoint: string;
  /** Stops the server. Idempotent. */
  close(): Promise<void>;
}

/** `now` is the clock by which URLs expire. */
export const openSignedS3 = async (now: () => number = Date.now): Promise<SignedS3> => {
  const directory = await mkdtemp(join(tmpdir(), 'quita-s3-'));
  const s3 = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = await s3.run();
  const front = createServer((req, res) => {
    if (req.url?.includes('X-Amz-Signature') && !isAsSigned(req, now())) {
      req.resume();
      return void res.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    }
    const { method, url: path, headers } = req;
    const passed = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on('error', () => res.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  let isOpen = true;
  return {
    endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await s3.close();
      await rm(directory, { recursive: true });
    },
  };
};

/** Environment variables with credentials for the AWS client. */
export const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET };
