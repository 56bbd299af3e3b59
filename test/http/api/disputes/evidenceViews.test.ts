// Links to evidence: what a browser receives, for how long, and what downloads may use of the process (rules Q6, E9).
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { EVIDENCE_BYTES_MAX } from '../../../../domain/dispute/evidenceFile.ts';
import { pdfFile } from '../../../support/images.ts';
import { type Evidence, EvidenceDesk, FILE } from '../../../world/evidenceDesk.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady, portOf, rawIdOf } from '../../../world/http.ts';

describe('a link to evidence', () => {
  let gateway: TestGateway;
  let folder: string;
  let now = Date.now();
  let desk: EvidenceDesk;
  before(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'quita-evidence-')), 'evidence');
    gateway = await openReady({ evidence: { folder }, clock: { now: () => now } });
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

  it('serves the file as a download that browsers neither run nor sniff', async () => {
    const { view_url: url } = await desk.add({ file_name: 'Comprovação "1" – ção.png' });
    const reply = await fetch(url);
    expect([reply.status, Buffer.from(await reply.arrayBuffer())]).to.deep.equal([200, FILE]);
    const header = (name: string) => reply.headers.get(name);
    expect(header('content-type')).to.equal('image/png');
    expect(header('content-disposition')).to.equal(
      `attachment; filename="Comprova__o _1_ _ __o.png"; filename*=UTF-8''Comprova%C3%A7%C3%A3o%20%221%22%20%E2%80%93%20%C3%A7%C3%A3o.png`,
    );
    expect(header('x-content-type-options')).to.equal('nosniff');
    expect(header('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(header('cache-control')).to.equal('private, no-store');
  });
  it('works for five minutes and for its own file only', async () => {
    const { view_url: url, id } = await desk.add();
    const { id: otherId } = await desk.add();
    const status = async (at: string) => (await fetch(at)).status;
    expect(await status(url.replace(id, otherId))).to.equal(403);
    expect(await status(url.slice(0, -1))).to.equal(403);
    expect(await status(url.split('?')[0] as string)).to.equal(403);
    expectError(await gateway.get(`/evidence/${id}`), 403, 'invalid_signature');
    now += 299_999;
    expect(await status(url)).to.equal(200);
    now += 1;
    expect(await status(url)).to.equal(403);
    const [, listed] = await desk.list();
    expect(await status(listed!.view_url)).to.equal(200);
  });
  it('serves no damaged or missing file; a damaged one of the same size is cut off', async () => {
    const { view_url: url, id } = await desk.add();
    const path = join(folder, desk.merchant.tenant.accountId, rawIdOf(id));
    const at = url.slice(gateway.baseUrl.length);
    const damaged = Buffer.from(FILE);
    damaged[40] = (damaged[40] as number) ^ 1;
    await writeFile(path, damaged);
    const cut = await fetch(url).then(
      (reply) => reply.arrayBuffer().catch(() => 'cut'),
      () => 'cut',
    );
    expect(cut).to.equal('cut');
    expect(gateway.faults.splice(0).map(String)).to.deep.equal([
      'EvidenceDamaged: the SHA-256 of a confirmed file has changed',
    ]);
    await truncate(path, 10);
    expectError(await gateway.get(at), 409, 'EVIDENCE_SIZE_MISMATCH');
    await rm(path);
    expectError(await gateway.get(at), 404, 'not_found');
  });

  it('reveals nothing about the account or the file', async () => {
    const { view_url: url } = await desk.add();
    const token = new URL(url).searchParams.get('token') as string;
    for (const text of [url, ...token.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'))])
      for (const secret of [desk.merchant.tenant.accountId, 'entrega', 'sha256', 'image/png'])
        expect(text).to.not.include(secret);
  });
  it('answers HEAD, which counts toward no limit', async () => {
    const { view_url: url } = await desk.add();
    for (let i = 0; i < 20; i++) {
      const reply = await fetch(url, { method: 'HEAD' });
      expect([reply.status, reply.headers.get('content-length')]).to.deep.equal([200, String(FILE.length)]);
    }
  });

  describe('with clients that read nothing', () => {
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });
    const large = () => desk.add({ mime_type: 'application/pdf' }, pdfFile(EVIDENCE_BYTES_MAX - pdfFile().length));
    /** Requests the file without reading the body. Returns the status. */
    const unread = ({ view_url: url }: Evidence): Promise<number> =>
      new Promise((resolve) => {
        const path = url.slice(gateway.baseUrl.length);
        const socket = connect(portOf(gateway), '127.0.0.1', () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
        );
        sockets.push(socket);
        socket.once('data', (chunk) => {
          socket.pause();
          resolve(Number(chunk.toString('latin1').split(' ')[1]));
        });
        socket.on('error', () => undefined);
      });
    const refused = async ({ view_url: url }: Evidence) => {
      const reply = await gateway.get<unknown>(url.slice(gateway.baseUrl.length), { key: null });
      expectError(reply, 429, 'rate_limited');
      expect(reply.headers.get('retry-after')).to.equal('5');
    };
    it('serves four at a time per link and 16 per account, and more once a client leaves', async () => {
      const file = await large();
      const links = [file, ...(await Promise.all([desk.list(), desk.list(), desk.list(), desk.list()])).flat()];
      expect(await Promise.all([1, 2, 3, 4].map(() => unread(file)))).to.deep.equal([200, 200, 200, 200]);
      await refused(file);
      for (const link of links.slice(1, 4))
        expect(await Promise.all([1, 2, 3, 4].map(() => unread(link)))).to.deep.equal([200, 200, 200, 200]);
      await refused(links[4] as Evidence);
      const other = await EvidenceDesk.open(gateway);
      expect(await unread(await other.add())).to.equal(200);
      (sockets[0] as Socket).destroy();
      let status = await unread(links[4] as Evidence);
      while (status === 429) status = await unread(links[4] as Evidence);
      expect(status).to.equal(200);
      await refused(links[4] as Evidence);
    });
    it('uses less memory for 100 clients than 16 files would take', async () => {
      const file = await large();
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const used = () => {
        collect();
        const { arrayBuffers, external } = process.memoryUsage();
        return arrayBuffers + external;
      };
      const links = [file, ...(await Promise.all([desk.list(), desk.list(), desk.list()])).flat()];
      const before = used();
      const statuses: number[] = [];
      for (let i = 0; i < 100; i++) statuses.push(await unread(links[i % 4] as Evidence));
      expect(statuses.filter((status) => status === 200).length).to.equal(16);
      expect(statuses.filter((status) => status === 429).length).to.equal(84);
      // Sixteen files are 160 MB.
      expect(used() - before).to.be.below(32_000_000);
    });
  });
});
