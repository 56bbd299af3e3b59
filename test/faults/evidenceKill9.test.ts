// kill -9 during the upload of a dispute case’s file, and between upload and confirmation. Files and read model agree afterwards (rule Q6).
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { FILE, put, type Upload } from '../world/evidenceDesk.ts';
import { KillableGateway } from '../world/killableGateway.ts';

const ROUNDS_MS = 240_000;

describe('evidence and kill -9 of the whole process group', () => {
  let gateway: KillableGateway;
  let path: string;
  before(async function run() {
    this.timeout(ROUNDS_MS);
    gateway = await KillableGateway.open(ROUNDS_MS);
    const { id } = await ask<{ id: string }>(
      'POST',
      '/v1/charges',
      { amount: 1_000, payment_method: 'pix' },
      'a-paid-charge',
    );
    await ask('POST', `/v1/sandbox/charges/${id}/pay`, {});
    const medCase = await ask<{ id: string }>('POST', `/v1/sandbox/charges/${id}/med`, { provider_case_id: 'one' });
    path = `/v1/med/cases/${medCase.id}`;
  });
  after(() => gateway.close());

  const ask = async <T>(method: 'GET' | 'POST', at: string, body?: unknown, key?: string): Promise<T> => {
    const { status, text } = await gateway.insist(method, at, body, key);
    expect(status, text).to.be.oneOf([200, 201]);
    return JSON.parse(text) as T;
  };
  const grant = () =>
    ask<Upload>('POST', `${path}/evidence`, { file_name: 'a.png', file_size: FILE.length, mime_type: 'image/png' });
  const confirmed = async (): Promise<readonly string[]> =>
    (await ask<{ data: readonly { id: string }[] }>('GET', `${path}/evidence`)).data.map(({ id }) => id).sort();
  /** Returns all files, including incomplete uploads. */
  const tree = async (): Promise<readonly string[]> =>
    (await readdir(join(gateway.dataDir, 'evidence'), { recursive: true }))
      .filter((name) => name.includes('/'))
      .map((name) => name.replace(/^\w{26}\//, 'mev_'))
      .sort();

  it('leaves nothing of an interrupted upload, which can be repeated with the same grant', async function run() {
    this.timeout(ROUNDS_MS);
    const upload = await grant();
    const cut = request(upload.upload_url, { method: 'PUT', headers: upload.upload_headers });
    const isOver = new Promise<void>((resolve) => cut.on('error', () => resolve()));
    await new Promise<void>((resolve) => cut.write(FILE.subarray(0, 100), () => resolve()));
    while (!(await tree()).some((name) => name.startsWith('incoming/'))) await new Promise(setImmediate);
    await gateway.killAndRestart();
    await isOver;
    expect([await tree(), await confirmed()]).to.deep.equal([[], []]);
    expect((await gateway.insist('POST', `${path}/evidence/${upload.id}/complete`)).status).to.equal(409);
    expect(await put(upload, FILE)).to.equal(200);
    await ask('POST', `${path}/evidence/${upload.id}/complete`);
    expect([await tree(), await confirmed()]).to.deep.equal([[upload.id], [upload.id]]);
  });
  it('loses no file whose upload was answered with 200, and confirms it afterwards', async function run() {
    this.timeout(ROUNDS_MS);
    const [before] = await confirmed();
    const upload = await grant();
    expect(await put(upload, FILE)).to.equal(200);
    await gateway.killAndRestart();
    expect([await tree(), await confirmed()]).to.deep.equal([[before, upload.id].sort(), [before]]);
    expect(await put(upload, FILE)).to.equal(403);
    const { view_url: viewUrl } = await ask<{ view_url: string }>('POST', `${path}/evidence/${upload.id}/complete`);
    expect(Buffer.from(await (await fetch(viewUrl)).arrayBuffer())).to.deep.equal(FILE);
    expect([await tree(), await confirmed()]).to.deep.equal([[before, upload.id].sort(), [before, upload.id].sort()]);
    const { evidence_count: count } = await ask<{ evidence_count: number }>('GET', path);
    expect(count).to.equal(2);
  });
});
