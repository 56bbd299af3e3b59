import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  EvidenceStorageUnavailable,
  type EvidenceUpload,
  type SentEvidence,
} from '../../application/ports/evidenceStorage.ts';
import type { AccountId, EvidenceId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { EvidenceTokens } from '../../infrastructure/evidence/evidenceTokens.ts';
import { FileEvidenceStorage } from '../../infrastructure/evidence/fileStorage.ts';
import { S3EvidenceStorage } from '../../infrastructure/evidence/s3Storage.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import { systemRandomness as randomness } from '../../infrastructure/system/system.ts';
import { BUCKET, openSignedS3, S3_CREDENTIALS } from '../world/signedS3.ts';
import { evidenceStorageConformance, sendTo } from './evidenceStorage.ts';

const openFiles = async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'quita-evidence-')), 'evidence');
  let now = Date.now();
  let accountNow = now;
  let receives = (): Promise<void> => Promise.resolve();
  const server = createServer(async (req, res) => {
    const { method, headers } = req;
    const url = new URL(req.url ?? '', 'http://here');
    const evidenceId = url.pathname.split('mev_')[1] as EvidenceId;
    const size = headers['content-length'] === undefined ? null : Number(headers['content-length']);
    const sent = {
      evidenceId,
      token: url.searchParams.get('token') ?? '',
      contentType: headers['content-type'] ?? null,
      size,
    };
    try {
      const stored = method === 'PUT' ? await receive({ ...sent, body: req }) : null;
      req.resume();
      res.writeHead(stored === null ? 403 : 200).end(stored);
    } catch (error) {
      res.writeHead(error instanceof EvidenceStorageUnavailable ? 503 : 400).end();
    } finally {
      await receives();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokens = new EvidenceTokens(new SecretsKeyring([randomBytes(32)]), base, { now: () => now });
  const needs = { folder, tokens, randomness, accountNow: async () => fromMillis(accountNow), freeSpaceMin: 0 };
  const storage = await FileEvidenceStorage.open(needs, true);
  const receive = async (sent: SentEvidence): Promise<string | null> => {
    const upload = await storage.accept(sent);
    return upload && storage.store(upload, sent.body);
  };
  return {
    storage,
    receive,
    folder,
    needs,
    advance: (seconds: number) => {
      now += seconds * 1_000;
    },
    advanceAccount: (seconds: number) => {
      accountNow += seconds * 1_000;
    },
    onReceived: (listener: () => void) => {
      receives = async () => listener();
    },
    breakIt: async () => {
      await rm(folder, { recursive: true });
      await writeFile(folder, 'not a folder');
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(join(folder, '..'), { recursive: true });
    },
  };
};

evidenceStorageConformance('files', openFiles);

describe('evidence storage: S3-compatible', () => {
  before(() => Object.assign(process.env, S3_CREDENTIALS));
  after(() => {
    for (const name of Object.keys(S3_CREDENTIALS)) delete process.env[name];
  });
  evidenceStorageConformance('a bucket', async () => {
    let advanced = 0;
    const server = await openSignedS3(() => Date.now() + advanced);
    const storage = new S3EvidenceStorage({
      bucket: BUCKET,
      prefix: 'quita/',
      region: 'us-east-1',
      endpoint: server.endpoint,
    });
    return {
      storage,
      advance: (seconds) => {
        advanced += seconds * 1_000;
      },
      breakIt: () => server.close(),
      close: async () => {
        storage.close();
        await server.close();
      },
    };
  });
});

describe('evidence in files', () => {
  const BODY = Buffer.alloc(200_000, 'quita');
  let files: Awaited<ReturnType<typeof openFiles>>;
  let upload: EvidenceUpload;
  let url: string;
  beforeEach(async () => {
    files = await openFiles();
    upload = {
      accountId: '0123456789abcdefghjkmnpqrs' as AccountId,
      mode: 'test',
      evidenceId: '1123456789abcdefghjkmnpqrs' as EvidenceId,
      contentType: 'image/png',
      size: BODY.length,
      expiresAt: fromMillis(Date.now() + 900_000),
    };
    url = await files.storage.uploadUrl(upload, 900);
  });
  afterEach(() => files.close());
  const tree = async (): Promise<readonly string[]> =>
    (await readdir(files.folder, { recursive: true })).filter((name) => name.includes('/')).sort();
  const FILE = '0123456789abcdefghjkmnpqrs/1123456789abcdefghjkmnpqrs';

  it('are stored once: of concurrent uploads one succeeds, and later ones are rejected', async () => {
    const statuses = await Promise.all(Array.from({ length: 8 }, () => sendTo(url, BODY)));
    expect(statuses.sort()).to.deep.equal([200, 403, 403, 403, 403, 403, 403, 403]);
    expect(await sendTo(url, BODY)).to.equal(403);
    expect(await tree()).to.deep.equal([FILE]);
  });
  it('are not stored if the connection is cut, and can be uploaded again with the same URL', async () => {
    const received = new Promise<void>((resolve) => files.onReceived(resolve));
    const put = request(url, {
      method: 'PUT',
      headers: { 'content-type': 'image/png', 'content-length': BODY.length },
    });
    put.on('error', () => undefined);
    put.write(BODY.subarray(0, 100_000), () => put.destroy());
    await received;
    expect(await tree()).to.deep.equal([]);
    expect(await sendTo(url, BODY)).to.equal(200);
    expect(await tree()).to.deep.equal([FILE]);
  });
  it('are rejected without a declared size', async () => {
    const status = await new Promise((resolve) => {
      const put = request(url, { method: 'PUT', headers: { 'content-type': 'image/png' } }, (res) =>
        resolve(res.statusCode),
      );
      put.write(BODY.subarray(1));
      put.end(BODY.subarray(0, 1));
    });
    expect(status).to.equal(403);
    expect(await tree()).to.deep.equal([]);
  });
  it('are rejected once they exceed the declared size, without reading further', async () => {
    const token = new URL(url).searchParams.get('token') as string;
    let asked = 0;
    const endless = async function* () {
      for (;;) {
        asked += 1;
        yield BODY;
      }
    };
    const { evidenceId, contentType, size } = upload;
    expect(await files.receive({ evidenceId, token, contentType, size, body: endless() })).to.equal(null);
    expect(asked).to.equal(2);
    expect(await tree()).to.deep.equal([]);
  });
  it('are rejected after their grant has expired in account time', async () => {
    files.advanceAccount(901);
    expect(await sendTo(url, BODY)).to.equal(403);
    expect(await tree()).to.deep.equal([]);
  });
  it('left incomplete by a stopped program are removed with the evidence or at the next start', async () => {
    const draft = join(files.folder, 'incoming', `${upload.evidenceId}.0123456789abcdef`);
    await writeFile(draft, 'half');
    await files.storage.remove(upload);
    expect(await tree()).to.deep.equal([]);
    await mkdir(join(files.folder, 'incoming'), { recursive: true });
    await writeFile(draft, 'half');
    await FileEvidenceStorage.open(files.needs, false);
    expect(await tree()).to.deep.equal(['incoming/1123456789abcdefghjkmnpqrs.0123456789abcdef']);
    await FileEvidenceStorage.open(files.needs, true);
    expect(await tree()).to.deep.equal([]);
    expect(await sendTo(url, BODY)).to.equal(200);
  });
  it('are neither granted nor accepted while free space is below the minimum', async () => {
    const { bavail, bsize } = await statfs(files.folder);
    const open = (freeSpaceMin: number) => FileEvidenceStorage.open({ ...files.needs, freeSpaceMin }, false);
    const full = await open(bavail * bsize * 2);
    const body = async function* () {
      yield BODY;
    };
    for (const ask of [() => full.uploadUrl(upload, 900), () => full.store(upload, body())]) {
      const outcome = await ask().catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(EvidenceStorageUnavailable);
    }
    expect(await tree()).to.deep.equal([]);
    expect(await (await open(bavail * bsize * 0.1)).store(upload, body())).to.match(/^[0-9a-f]{64}$/);
  });
  it('can be uploaded as soon as the folder is usable again', async () => {
    await files.breakIt();
    expect(await sendTo(url, BODY)).to.equal(503);
    await rm(files.folder);
    expect(await sendTo(url, BODY)).to.equal(200);
    expect(await tree()).to.deep.equal([FILE]);
  });
  it('can’t be uploaded with a view token or viewed with an upload token, and tokens reveal and accept no changes', async () => {
    const { tokens } = files.needs;
    const view = { ...upload, fileName: 'a.png', sha256: '0'.repeat(64) };
    const viewUrl = await tokens.urlFor('GET', view, 300);
    const sealed = new URL(viewUrl).searchParams.get('token') as string;
    for (const text of [sealed, url, Buffer.from(sealed, 'base64url').toString('latin1')])
      for (const secret of [upload.accountId, view.sha256, 'a.png']) expect(text).to.not.include(secret);
    for (let i = 0; i < sealed.length; i += 7) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
      expect(await tokens.read('GET', upload.evidenceId, changed), `${i}`).to.equal(null);
    }
    for (const none of ['', 'a', sealed.slice(0, 20), sealed.slice(1)])
      expect(await tokens.read('GET', upload.evidenceId, none)).to.equal(null);
    expect(await sendTo(viewUrl, BODY)).to.equal(403);
    const token = new URL(url).searchParams.get('token') as string;
    expect(await tokens.read('GET', upload.evidenceId, token)).to.equal(null);
  });
});
