// Limits on what uploads may use: grants, disk space, requests and the event loop (rule E9).
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { removeUnconfirmed } from '../../../../application/disputes/evidenceSweep.ts';
import type { KeptGrant } from '../../../../application/ports/evidenceGrants.ts';
import { EVIDENCE_BYTES_MAX } from '../../../../domain/dispute/evidenceFile.ts';
import { fromMillis } from '../../../../domain/kernel/time.ts';
import { jpegImage, pdfFile } from '../../../support/images.ts';
import { cpuMsHere, longestTurnOf } from '../../../support/longestTurn.ts';
import { EvidenceDesk, FILE, put, type Upload, untilUploading } from '../../../world/evidenceDesk.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import { NO_SCHEDULES } from '../../../world/withoutWorld.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Returns a PNG of at most `bytes` bytes, made of empty chunks: 1.3 million of them in 10 MB. */
const emptyChunks = (bytes = EVIDENCE_BYTES_MAX): Buffer => {
  const [header, trailer] = [FILE.subarray(8, 33), FILE.subarray(-12)];
  const chunk = Buffer.alloc(12);
  chunk.write('tEXt', 4, 'latin1');
  const count = Math.floor((bytes - SIGNATURE.length - header.length - trailer.length) / chunk.length);
  return Buffer.concat([SIGNATURE, header, ...Array<Buffer>(count).fill(chunk), trailer]);
};

describe('uploads of evidence', () => {
  let folder: string;
  let database: TestDatabase;
  let gateway: TestGateway;
  let desk: EvidenceDesk;
  let now = Date.now();
  const openOne = (isAlone: boolean): Promise<TestGateway> =>
    openReady({
      database,
      isAlone,
      evidence: { folder },
      clock: { now: () => now },
      startSchedule: NO_SCHEDULES,
    });
  before(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'quita-uploads-')), 'evidence');
    database = await startedDatabase();
    gateway = await openOne(true);
  });
  beforeEach(async () => {
    now = Date.now();
    desk = await EvidenceDesk.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));
  after(async () => {
    await gateway.close();
    await database.drop();
    await rm(join(folder, '..'), { recursive: true });
  });

  const files = async (): Promise<readonly string[]> =>
    (await readdir(join(folder, desk.merchant.tenant.accountId)).catch(() => [])).map((id) => `mev_${id}`).sort();
  const incoming = (): Promise<readonly string[]> => readdir(join(folder, 'incoming')).catch(() => []);
  const pathOf = ({ id }: Pick<Upload, 'id'>): string => join(folder, desk.merchant.tenant.accountId, rawIdOf(id));
  const eventsOfCase = async (): Promise<readonly string[]> => {
    const { rows } = await gateway.storage.reads.query<{ type: string }>(
      'SELECT type FROM event_store.events WHERE stream = $1 ORDER BY revision',
      [`medCase-${rawIdOf(desk.caseId)}`],
    );
    return rows.map(({ type }) => type);
  };
  const sweep = () => removeUnconfirmed(gateway.gateway.needs);

  it('write no event until a file is confirmed', async () => {
    const [unused, used] = [await desk.grant(), await desk.grant()];
    await put(used, FILE);
    expect(await eventsOfCase()).to.deep.equal(['MedCaseOpened']);
    await desk.complete(used);
    await desk.complete(used);
    expectError(await desk.complete(unused), 409, 'EVIDENCE_NOT_UPLOADED');
    expect(await eventsOfCase()).to.deep.equal(['MedCaseOpened', 'MedCaseEvidenceConfirmed']);
  });

  describe('that are open', () => {
    const limitReached = async (ask: EvidenceDesk, seconds: readonly [number, number]) => {
      const reply = await ask.ask();
      expectError(reply, 429, 'upload_limit_reached');
      expect(Number(reply.headers.get('retry-after'))).to.be.within(...seconds);
    };
    it('are limited to 20 per case across all processes, also when requested concurrently', async () => {
      const other = await openOne(false);
      const asks = Array.from({ length: 30 }, (_, n) => {
        const body = { file_name: 'a.png', file_size: 1, mime_type: 'image/png' };
        const path = `/v1/med/cases/${desk.caseId}/evidence`;
        return (n % 2 === 0 ? gateway : other).post(path, body, desk.merchant);
      });
      const statuses = (await Promise.all(asks)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 201).length).to.equal(20);
      expect(statuses.filter((status) => status === 429).length).to.equal(10);
      await limitReached(desk, [880, 900]);
      now += 899_000;
      await limitReached(desk, [1, 1]);
      now += 1_000;
      await desk.grant();
      await other.close();
    });
    it('are freed when they are confirmed, rejected, or expired by the account’s clock', async () => {
      const wrong = jpegImage();
      const uploads = [await desk.grant(), await desk.grant({ file_size: wrong.length })] as const;
      for (let i = 0; i < 18; i++) await desk.grant();
      await limitReached(desk, [880, 900]);
      await put(uploads[0], FILE);
      await limitReached(desk, [880, 900]);
      expect((await desk.complete(uploads[0])).status).to.equal(200);
      await desk.grant();
      await limitReached(desk, [880, 900]);
      await put(uploads[1], wrong);
      expectError(await desk.complete(uploads[1]), 400, 'invalid_evidence');
      await desk.grant();
      await limitReached(desk, [880, 900]);
      await desk.merchant.advance(900);
      await desk.grant();
    });
    it('are limited to 200 MB across all cases of an account and mode until their files are removed', async () => {
      const file_size = EVIDENCE_BYTES_MAX;
      const second = await desk.another();
      for (let i = 0; i < 10; i++) await desk.grant({ file_size });
      for (let i = 0; i < 9; i++) await second.grant({ file_size });
      await desk.grant({ file_size: file_size - 1 });
      expectError(await second.ask({ file_size: 2 }), 429, 'upload_limit_reached');
      await second.grant({ file_size: 1 });
      await limitReached(second, [940, 960]);
      await (await EvidenceDesk.open(gateway)).grant({ file_size });
      now += 930_000;
      await limitReached(second, [30, 31]);
      now += 10_000;
      await sweep();
      await second.grant({ file_size });
    });
  });

  describe('to one grant', () => {
    it('run one at a time across all processes; an upload that was cut off leaves the grant valid', async () => {
      const other = await openOne(false);
      const upload = await desk.grant();
      const slow = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      slow.on('error', () => undefined).write(FILE.subarray(1));
      await untilUploading(gateway, upload);
      for (const at of [gateway, other]) {
        const path = upload.upload_url.slice(gateway.baseUrl.length);
        const reply = await at.call('PUT', path, { raw: FILE, headers: { 'content-type': 'image/png' }, key: null });
        expectError(reply, 409, 'upload_in_progress');
      }
      expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
      slow.destroy();
      let status = await put(upload, FILE);
      while (status === 409) status = await put(upload, FILE);
      expect(status).to.equal(200);
      expect(await put(upload, FILE)).to.equal(403);
      await other.close();
    });
    it('are accepted again soon after a process was killed in the middle', async () => {
      const upload = await desk.grant();
      const { operations } = gateway.storage;
      const killed = (left: string) =>
        operations.query(
          `UPDATE operations.evidence_grants SET upload = 'gone', upload_until = clock_timestamp() + $2::interval WHERE evidence_id = $1`,
          [rawIdOf(upload.id), left],
        );
      await killed('1 minute');
      expect(await put(upload, FILE)).to.equal(409);
      await gateway.gateway.needs.grants.releaseAll();
      await killed('-1 ms');
      expect(await put(upload, FILE)).to.equal(200);
    });
    it('are not kept if the grant is removed before the last byte', async () => {
      const upload = await desk.grant();
      const slow = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      const status = new Promise((resolve) => slow.on('response', (res) => resolve(res.resume().statusCode)));
      slow.write(FILE.subarray(1));
      await untilUploading(gateway, upload);
      await gateway.gateway.needs.grants.markRemoved(rawIdOf(upload.id) as never);
      slow.end(FILE.subarray(0, 1));
      expect([await status, await files()]).to.deep.equal([403, []]);
    });
  });

  describe('are judged', () => {
    it('once: repeats for a rejected file get the same answer without another look, also in another process', async () => {
      const bytes = jpegImage();
      const upload = await desk.grant({ file_size: bytes.length });
      await put(upload, bytes);
      const first = await desk.complete(upload);
      expectError(first, 400, 'invalid_evidence');
      // A second look would find a valid file.
      await writeFile(pathOf(upload), FILE);
      const other = await openOne(false);
      const path = `/v1/med/cases/${desk.caseId}/evidence/${upload.id}/complete`;
      for (const ask of [() => desk.complete(upload), () => other.post<unknown>(path, undefined, desk.merchant)]) {
        const { body } = (await ask()) as { body: { error: unknown } };
        expect(body.error).to.deep.equal((first.body as unknown as { error: unknown }).error);
      }
      await other.close();
      now += 900_000;
      expectError(await desk.complete(upload), 400, 'invalid_evidence');
    });
    it('once when many confirm them concurrently in two processes', async () => {
      const bytes = jpegImage();
      const upload = await desk.grant({ file_size: bytes.length });
      await put(upload, bytes);
      const other = await openOne(false);
      const read: string[] = [];
      for (const one of [gateway, other]) {
        const { evidence } = one.gateway.needs;
        const plain = evidence.read.bind(evidence);
        evidence.read = (file) => {
          read.push(`mev_${file.evidenceId}`);
          return plain(file);
        };
      }
      const path = `/v1/med/cases/${desk.caseId}/evidence/${upload.id}/complete`;
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? gateway : other).post(path, undefined, desk.merchant)),
      );
      for (const reply of replies) expectError(reply, 400, 'invalid_evidence');
      expect(read).to.deep.equal([upload.id]);
      const { rows } = await gateway.storage.operations.query('SELECT FROM operations.evidence_judging');
      expect(rows).to.deep.equal([]);
      await other.close();
    });
    it('only after another process has judged a file of the same account', async () => {
      const upload = await desk.grant();
      await put(upload, FILE);
      const { grants } = gateway.gateway.needs;
      const end = await grants.beginJudging(desk.merchant.tenant.accountId);
      expect(await grants.beginJudging(desk.merchant.tenant.accountId)).to.equal(null);
      let isDone = false;
      const completed = desk.complete(upload).then((reply) => {
        isDone = true;
        return reply;
      });
      for (let looks = 0; looks < 20; looks++) await gateway.get('/v1/wallets', desk.merchant);
      expect(isDone).to.equal(false);
      await end?.();
      expect((await completed).status).to.equal(200);
    });
    it('outside the event loop: 10 MB of empty chunks block it for less than 20 ms', async () => {
      const bytes = emptyChunks();
      const [warmUp, upload] = [await desk.add(), await desk.grant({ file_size: bytes.length })];
      expect(warmUp.file_size).to.equal(FILE.length);
      expect(await put(upload, bytes)).to.equal(200);
      const bound = cpuMsHere(20);
      const { result, longestMs } = await longestTurnOf(() => desk.complete(upload));
      expectError(result, 400, 'invalid_evidence');
      expect(longestMs).to.be.below(bound);
      const again = await longestTurnOf(() => desk.complete(upload));
      expectError(again.result, 400, 'invalid_evidence');
      expect(again.longestMs).to.be.below(bound);
    });
  });

  describe('that were not confirmed', () => {
    it('are removed within a minute after their 15 minutes, including rejected ones', async () => {
      const wrong = jpegImage();
      const kept = await desk.add();
      const [left, refused, late] = [
        await desk.grant(),
        await desk.grant({ file_size: wrong.length }),
        await desk.grant(),
      ];
      await put(left, FILE);
      await put(refused, wrong);
      await put(late, FILE);
      expectError(await desk.complete(refused), 400, 'invalid_evidence');
      now += 899_000;
      await sweep();
      expect(await files()).to.deep.equal([kept.id, left.id, refused.id, late.id].sort());
      expect((await desk.complete(late)).status).to.equal(200);
      now += 45_000;
      await sweep();
      await sweep();
      expect(await files()).to.deep.equal([kept.id, late.id].sort());
      expectError(await desk.complete(left), 409, 'EVIDENCE_NOT_UPLOADED');
      expectError(await desk.complete(refused), 400, 'invalid_evidence');
      expect(await put(left, FILE)).to.equal(403);
      now += 86_400_000;
      await sweep();
      expectError(await desk.complete(left), 404, 'not_found');
      expect(await readFile(pathOf(kept))).to.deep.equal(FILE);
    });
    it('are found page by page, also if several grants end at the same time', async () => {
      const granted = [await desk.grant(), await desk.grant(), await desk.grant()].map(({ id }) => rawIdOf(id));
      now += 945_000;
      const { grants } = gateway.gateway.needs;
      const found: KeptGrant[] = [];
      for (let page = await grants.ended(fromMillis(now), 1, null); page.length > 0; ) {
        found.push(...page);
        page = await grants.ended(fromMillis(now), 1, found.at(-1) ?? null);
      }
      expect(found.map(({ evidenceId }) => String(evidenceId))).to.deep.equal(granted.toSorted());
      await sweep();
    });
    it('are kept while they are still uploading, and removed afterwards', async () => {
      const upload = await desk.grant();
      const slow = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      slow.on('error', () => undefined).write(FILE.subarray(1));
      // The grant is checked again after the upload is claimed, so the clock may only jump after the first bytes arrive.
      while (!(await incoming()).some((name) => name.startsWith(rawIdOf(upload.id)))) await new Promise(setImmediate);
      const removed = async () => (await gateway.gateway.needs.grants.find(rawIdOf(upload.id) as never))?.isRemoved;
      now += 945_000;
      await sweep();
      expect(await removed()).to.equal(false);
      slow.destroy();
      while (!(await removed())) await sweep();
      expect(await files()).to.deep.equal([]);
    });
    it('are kept if the process died after the confirmation and before the grant ended', async () => {
      const upload = await desk.grant();
      const { grants } = gateway.gateway.needs;
      const grant = await grants.find(rawIdOf(upload.id) as never);
      await put(upload, FILE);
      await desk.complete(upload);
      await grants.add(grant as NonNullable<typeof grant>, { openOfCase: 20, unconfirmedBytes: 1e9 }, grant!.at);
      now += 945_000;
      await sweep();
      expect([await files(), await grants.find(rawIdOf(upload.id) as never)]).to.deep.equal([[upload.id], null]);
    });
  });

  it('get 503 while less disk space is free than EVIDENCE_FREE_SPACE', async () => {
    const full = await openReady({ evidence: { freeSpaceMin: Number.MAX_SAFE_INTEGER } });
    expectError(await (await EvidenceDesk.open(full)).ask(), 503, 'service_unavailable');
    expect(full.faults.splice(0).map(String)).to.deep.equal([
      'EvidenceStorageUnavailable: less disk space is free than EVIDENCE_FREE_SPACE',
    ]);
    await full.close();
  });
  it('are rejected if a PDF contains JavaScript', async () => {
    const [head = '', tail = ''] = pdfFile().toString('latin1').split('trailer');
    const bytes = Buffer.from(`${head}4 0 obj<</S/Java#53cript/JS(app.alert(1))>>endobj\ntrailer${tail}`, 'latin1');
    const upload = await desk.grant({ mime_type: 'application/pdf', file_size: bytes.length });
    await put(upload, bytes);
    const reply = await desk.complete(upload);
    expectError(reply, 400, 'invalid_evidence');
    expect(reply.text).to.include('JavaScript');
  });
});
