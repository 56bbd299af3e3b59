// Evidence in dispute cases: the three steps, and what may go wrong between them (contract.md Dispute case, rule Q6).
import { mkdtemp, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { EVIDENCE_BYTES_MAX } from '../../../../domain/dispute/evidenceFile.ts';
import { jpegImage, pdfFile, pngImage } from '../../../support/images.ts';
import { respelled } from '../../../support/respelled.ts';
import { EvidenceDesk, FILE, put, type Upload } from '../../../world/evidenceDesk.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, rawIdOf } from '../../../world/http.ts';

const LIVE_SECONDS = { grantSeconds: 900, viewSeconds: 300 };

describe('evidence', () => {
  let gateway: TestGateway;
  let folder: string;
  let now = Date.now();
  let desk: EvidenceDesk;
  before(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'quita-evidence-')), 'evidence');
    gateway = await openReady({ evidence: { folder, ...LIVE_SECONDS }, clock: { now: () => now } });
  });
  beforeEach(async () => {
    now = Date.now();
    desk = await EvidenceDesk.open(gateway);
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));
  after(async () => {
    await gateway.close();
    await rm(join(folder, '..'), { recursive: true });
  });

  /** Returns the evidence IDs of the merchant’s stored files. */
  const files = async (): Promise<readonly string[]> =>
    (await readdir(join(folder, desk.merchant.tenant.accountId)).catch(() => [])).map((id) => `mev_${id}`).sort();
  const onTheirWay = (): Promise<readonly string[]> => readdir(join(folder, 'incoming'));
  /** Expects no confirmed evidence, and no stored files except the given uploads. */
  const expectNone = async (...arrived: readonly Upload[]): Promise<void> => {
    expect([await desk.list(), await desk.count()]).to.deep.equal([[], 0]);
    expect(await files()).to.deep.equal(arrived.map(({ id }) => id).sort());
    expect(await onTheirWay()).to.deep.equal([]);
  };

  it('is granted, uploaded and confirmed, then appears in the list and the count', async () => {
    const upload = await desk.grant();
    const { id, upload_url: url } = upload;
    expect(id).to.match(/^mev_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(upload).to.deep.equal({
      id,
      object: 'med_case_evidence_upload',
      upload_url: url,
      upload_method: 'PUT',
      upload_headers: { 'Content-Type': 'image/png', 'Content-Length': String(FILE.length) },
      expires_in: 900,
    });
    expect(url.startsWith(`${gateway.baseUrl}/evidence/${id}?`)).to.equal(true);
    await expectNone();
    expect(await put(upload, FILE)).to.equal(200);
    await expectNone(upload);
    const { status, body } = await desk.complete(upload);
    expect(status).to.equal(200);
    const { created_at: createdAt, uploaded_at: uploadedAt, view_url: viewUrl } = body;
    expect(body).to.deep.equal({
      id,
      object: 'med_case_evidence',
      file_name: 'entrega.png',
      file_size: FILE.length,
      mime_type: 'image/png',
      uploaded_by: 'merchant',
      created_at: createdAt,
      uploaded_at: uploadedAt,
      view_url: viewUrl,
    });
    const [listed, ...more] = await desk.list();
    expect([{ ...listed, view_url: viewUrl }, more]).to.deep.equal([body, []]);
    expect(await desk.count()).to.equal(1);
    expect([await files(), await onTheirWay()]).to.deep.equal([[id], []]);
  });
  it('is confirmed idempotently, also concurrently', async () => {
    const upload = await desk.grant();
    await put(upload, FILE);
    const replies = await Promise.all(Array.from({ length: 5 }, () => desk.complete(upload)));
    const { view_url: _, ...first } = replies[0]!.body;
    for (const { status, body } of [...replies, await desk.complete(upload)])
      expect([status, body]).to.deep.equal([200, { ...first, view_url: body.view_url }]);
    expect(await desk.count()).to.equal(1);
  });
  it('is listed newest first', async () => {
    const ids: string[] = [];
    for (const bytes of [pngImage(16, 16), pdfFile(), jpegImage()]) {
      now += 1_000;
      const mime_type = bytes[0] === 0x25 ? 'application/pdf' : bytes[0] === 0xff ? 'image/jpeg' : 'image/png';
      ids.unshift((await desk.add({ mime_type }, bytes)).id);
    }
    expect((await desk.list()).map(({ id }) => id)).to.deep.equal(ids);
  });
  it('has the same routes under /v1/infractions', async () => {
    const path = `/v1/infractions/${desk.caseId}/evidence`;
    const { merchant } = desk;
    const file = { file_name: 'a.png', file_size: FILE.length, mime_type: 'image/png' };
    const { body: upload } = await gateway.post<Upload>(path, file, merchant);
    expect(await put(upload, FILE)).to.equal(200);
    expect((await gateway.post(`${path}/${upload.id}/complete`, undefined, merchant)).status).to.equal(200);
    const { body } = await gateway.get<{ data: readonly { id: string }[] }>(path, merchant);
    expect(body.data.map(({ id }) => id)).to.deep.equal([upload.id]);
  });

  describe('is rejected at the grant', () => {
    const REFUSED: readonly (readonly [string, readonly unknown[]])[] = [
      [
        'file_name',
        [
          '',
          'a/b.png',
          'a\\b.png',
          '../../etc/passwd',
          '.',
          '..',
          'a\nb',
          'a\u007fb',
          'a\u0085b',
          'a\u202egnp.exe',
          'a\u2066b',
          'a\u200fb',
          'a\u061cb',
          'a\u2028b',
          'proof.pdf',
          'proof.exe',
          'proof.png.exe',
          'proof.exe.',
          'proof.exe . ',
          'proof.JPG',
          'proof.mp4',
          'x'.repeat(256),
          1,
          null,
        ],
      ],
      ['file_size', [0, -1, 1.5, '10', EVIDENCE_BYTES_MAX + 1, null]],
      ['mime_type', ['image/svg+xml', 'text/html', 'IMAGE/PNG', 'image/png; charset=x', '', null]],
    ];
    for (const [field, values] of REFUSED)
      it(`for a wrong or missing ${field}`, async () => {
        const code = `invalid_${field}` as 'invalid_file_name' | 'invalid_file_size' | 'invalid_mime_type';
        for (const value of [...values, undefined]) expectError(await desk.ask({ [field]: value }), 400, code, field);
        await expectNone();
      });
    it('but not for a name of 255 characters, or one that resembles a path', async () => {
      for (const file_name of [
        'x'.repeat(255),
        '😀'.repeat(255),
        '...',
        'nota..png',
        'C:nota.png',
        ' ',
        '<b>.png',
        'proof.PNG',
        'nota 1.234',
        'nota 12.',
        '👩‍💻.png',
      ])
        expect((await desk.add({ file_name })).file_name).to.equal(file_name);
    });
    it('above 10 MiB, but not at exactly 10 MiB', async () => {
      const whole = pdfFile(EVIDENCE_BYTES_MAX - pdfFile().length);
      expect(whole.length).to.equal(10_485_760);
      expectError(
        await desk.ask({ mime_type: 'application/pdf', file_size: 10_485_761 }),
        400,
        'invalid_file_size',
        'file_size',
      );
      expect((await desk.add({ mime_type: 'application/pdf' }, whole)).file_size).to.equal(10_485_760);
    });
    it('for unknown cases and those of another account', async () => {
      const other = await EvidenceDesk.open(gateway);
      const file = { file_name: 'a.png', file_size: 1, mime_type: 'image/png' };
      for (const id of [desk.caseId, 'med_00000000000000000000000000', rawIdOf(other.caseId), 'x'])
        expectError(await gateway.post(`/v1/med/cases/${id}/evidence`, file, other.merchant), 404, 'not_found');
    });
    it('for a closed case, but not for an appealed one', async () => {
      await desk.answer('appeal', { reason: 'Foi entregue.' });
      await desk.add();
      const ended = await EvidenceDesk.open(gateway);
      const upload = await ended.grant();
      await put(upload, FILE);
      await ended.answer('accept');
      expectError(await ended.ask(), 400, 'case_not_open');
      expectError(await ended.complete(upload), 400, 'case_not_open');
    });
    it('after 20 confirmed files; a 21st file granted earlier is rejected when confirmed', async () => {
      const uploads: Upload[] = [];
      const grant = async () => uploads.push(await desk.grant());
      for (let i = 0; i < 20; i++) await grant();
      expect(await put(uploads[0] as Upload, FILE)).to.equal(200);
      expect((await desk.complete(uploads[0] as Upload)).status).to.equal(200);
      await grant();
      for (const upload of uploads.slice(1)) expect(await put(upload, FILE)).to.equal(200);
      for (const upload of uploads.slice(0, 20)) expect((await desk.complete(upload)).status).to.equal(200);
      expectError(await desk.complete(uploads[20]!), 400, 'evidence_limit_reached');
      expectError(await desk.ask(), 400, 'evidence_limit_reached');
      expect((await desk.complete(uploads[0]!)).status).to.equal(200);
      expect([await desk.count(), (await desk.list()).length]).to.deep.equal([20, 20]);
    });
  });

  describe('is rejected at its upload URL', () => {
    it('with another type or size, which leaves the grant valid', async () => {
      const upload = await desk.grant();
      for (const type of ['image/jpeg', 'text/html', 'image/png; charset=utf-8'])
        expect(await put(upload, FILE, type)).to.equal(403);
      for (const bytes of [
        FILE.subarray(1),
        Buffer.concat([FILE, FILE]),
        Buffer.alloc(0),
        Buffer.alloc(EVIDENCE_BYTES_MAX + 1),
      ])
        expect(await put(upload, bytes)).to.equal(403);
      await expectNone();
      expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
      expect(await put(upload, FILE)).to.equal(200);
      expect((await desk.complete(upload)).status).to.equal(200);
    });
    it('a second time, before and after the confirmation', async () => {
      const upload = await desk.grant();
      expect(await put(upload, FILE)).to.equal(200);
      expect(await put(upload, FILE)).to.equal(403);
      await desk.complete(upload);
      expect(await put(upload, FILE)).to.equal(403);
      expect(await desk.count()).to.equal(1);
    });
    it('with a signature that is missing, changed or of another file', async () => {
      const upload = await desk.grant();
      const other = await desk.grant();
      const at = (url: string): Upload => ({ ...upload, upload_url: url });
      const { upload_url: url } = upload;
      for (const wrong of [
        url.replace(upload.id, other.id),
        `${url}x`,
        respelled(url),
        url.split('?')[0]!,
        url.replace('mev_', ''),
      ])
        expect(await put(at(wrong), FILE)).to.be.oneOf([403, 404]);
      const path = url.slice(gateway.baseUrl.length);
      const headers = { 'content-type': 'image/png' };
      expectError(await gateway.call('PUT', `${path}x`, { raw: FILE, headers, key: null }), 403, 'invalid_signature');
      expectError(await gateway.call('GET', path, { key: null }), 403, 'invalid_signature');
      await expectNone();
    });
    it('with a path that leads elsewhere', async () => {
      const upload = await desk.grant();
      for (const path of ['..', '..%2f..%2fetc', `..%2F${upload.id}`, `${upload.id}%2f..`, `${upload.id}%00`, '%2e%2e'])
        expect(await put({ ...upload, upload_url: upload.upload_url.replace(upload.id, path) }, FILE)).to.be.oneOf([
          400, 403, 404, 405,
        ]);
      await expectNone();
    });
    it('from 900 s after the grant on, not 1 ms earlier; a new grant works', async () => {
      const [early, late, sent] = [await desk.grant(), await desk.grant(), await desk.grant()];
      expect(await put(sent, FILE)).to.equal(200);
      now += 899_999;
      expect(await put(early, FILE)).to.equal(200);
      expect((await desk.complete(early)).status).to.equal(200);
      now += 1;
      expect(await put(late, FILE)).to.equal(403);
      for (const upload of [late, sent]) expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
      expect(await files()).to.deep.equal([early.id, sent.id].sort());
      const { id } = await desk.add();
      expect((await desk.list()).map((one) => one.id)).to.deep.equal([id, early.id]);
    });
    it('from 900 s of the account’s clock after the grant on, not 1 s earlier', async () => {
      const [early, late] = [await desk.grant(), await desk.grant()];
      await desk.merchant.advance(899);
      expect(await put(early, FILE)).to.equal(200);
      await desk.merchant.advance(1);
      expect(await put(late, FILE)).to.equal(403);
      await expectNone(early);
    });
    it('if the connection is cut; the same grant then accepts the whole file', async () => {
      const upload = await desk.grant();
      const [whole, half] = [FILE, FILE.subarray(0, 100)];
      const cut = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      cut.on('error', () => undefined);
      await new Promise<void>((resolve) => cut.write(half, () => resolve()));
      while ((await onTheirWay()).length === 0) await new Promise(setImmediate);
      cut.destroy();
      while ((await onTheirWay()).length > 0) await new Promise(setImmediate);
      await expectNone();
      expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
      expect(await put(upload, whole)).to.equal(200);
      expect((await desk.complete(upload)).status).to.equal(200);
    });
    it('until its last byte arrives; a confirmation before that fails', async () => {
      const upload = await desk.grant();
      const slow = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
      const status = new Promise((resolve) => slow.on('response', (res) => resolve(res.resume().statusCode)));
      for (const byte of FILE.subarray(0, -1))
        await new Promise<void>((resolve) => slow.write(Buffer.from([byte]), () => resolve()));
      while ((await onTheirWay()).length === 0) await new Promise(setImmediate);
      expectError(await desk.complete(upload), 409, 'EVIDENCE_NOT_UPLOADED');
      slow.end(FILE.subarray(-1));
      expect(await status).to.equal(200);
      expect((await desk.complete(upload)).status).to.equal(200);
    });
  });

  describe('is not confirmed', () => {
    it('by another account, mode or case, or with an unknown ID', async () => {
      const upload = await desk.grant();
      await put(upload, FILE);
      const other = await EvidenceDesk.open(gateway);
      expectError(await desk.complete(upload, other.merchant.key), 404, 'not_found');
      expectError(await desk.complete(upload, desk.merchant.tenant.liveKey), 404, 'not_found');
      expectError(await other.complete(upload), 404, 'not_found');
      for (const id of ['mev_00000000000000000000000000', rawIdOf(upload.id), 'x'])
        expectError(await desk.complete({ id }), 404, 'not_found');
      await expectNone(upload);
    });
    it('if its content has another type or is several files, however often it is tried', async () => {
      for (const bytes of [
        jpegImage(),
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
        Buffer.concat([FILE, pdfFile()]),
      ]) {
        const upload = await desk.grant({ file_size: bytes.length });
        expect(await put(upload, bytes)).to.equal(200);
        expectError(await desk.complete(upload), 400, 'invalid_evidence');
        expectError(await desk.complete(upload), 400, 'invalid_evidence');
        expect(await put(upload, bytes)).to.equal(403);
      }
      expect([await desk.list(), await desk.count()]).to.deep.equal([[], 0]);
    });
    it('if its stored file was damaged', async () => {
      const upload = await desk.grant();
      await put(upload, FILE);
      await truncate(join(folder, desk.merchant.tenant.accountId, rawIdOf(upload.id)), 10);
      expectError(await desk.complete(upload), 409, 'EVIDENCE_SIZE_MISMATCH');
      expect(await desk.count()).to.equal(0);
    });
  });

  it('gets 503 while the storage is unavailable, loses nothing, and works again afterwards', async () => {
    const { view_url: viewUrl } = await desk.add();
    const upload = await desk.grant();
    const sent = await desk.grant();
    await put(sent, FILE);
    await rename(folder, `${folder}.away`);
    await writeFile(folder, 'no folder');
    expectError(await desk.ask(), 503, 'service_unavailable');
    expect(await put(upload, FILE)).to.equal(503);
    expectError(await desk.complete(sent), 503, 'service_unavailable');
    expectError(await gateway.get(viewUrl.slice(gateway.baseUrl.length)), 503, 'service_unavailable');
    expect([await desk.count(), (await desk.list()).length]).to.deep.equal([1, 1]);
    expect(gateway.faults.splice(0).length).to.equal(4);
    await rm(folder);
    await rename(`${folder}.away`, folder);
    expect(await put(upload, FILE)).to.equal(200);
    for (const which of [upload, sent]) expect((await desk.complete(which)).status).to.equal(200);
    expect((await fetch(viewUrl)).status).to.equal(200);
    expect(await desk.count()).to.equal(3);
  });
});
