// Files sent by the dashboard’s plain forms, as evidence or logo: hostile names and types, sizes, interruptions, repetitions and forged
// forms.
import { request } from 'node:http';
import { expect } from 'chai';
import { LOGO_BYTES_MAX } from '../../../application/ports/logos.ts';
import { EVIDENCE_BYTES_MAX } from '../../../domain/dispute/evidenceFile.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { PT } from '../../../http/site/dashboard/texts/pt.ts';
import { jpegImage, pdfFile, pngImage } from '../../support/images.ts';
import { cookieOf, type FormFile, filesForm, ownFiles } from '../../world/browser.ts';
import { EvidenceDesk } from '../../world/evidenceDesk.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';

const PNG = pngImage();
const file = (name: string, bytes: Uint8Array = PNG, type = 'image/png'): FormFile => ({
  field: 'files',
  name,
  type,
  bytes,
});
const HTML = { accept: 'text/html', 'accept-language': 'en' };

describe('uploads in the dashboard', () => {
  let gateway: TestGateway;
  let desk: EvidenceDesk;
  let bearer: { readonly authorization: string };
  before(async () => {
    gateway = await openReady();
  });
  beforeEach(async () => {
    desk = await EvidenceDesk.open(gateway);
    bearer = await gateway.logIn('MEMBER', await gateway.addUser('MEMBER', { tenant: desk.merchant.tenant }));
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const pageOf = (one = desk) => `/dashboard/test/disputes/${rawIdOf(one.caseId)}`;
  const post = (path: string, form: ReturnType<typeof filesForm>, headers: Readonly<Record<string, string>> = {}) =>
    gateway.call<unknown>('POST', path, {
      key: null,
      raw: form.raw,
      headers: { ...HTML, ...cookieOf(bearer), ...form.headers, ...headers },
    });
  const send = (files: readonly FormFile[], headers = {}) =>
    post(`${pageOf()}/evidence`, ownFiles(bearer, files), headers);
  const names = async () => (await desk.list()).map(({ file_name }) => file_name).toSorted();
  const grants = async () =>
    (
      await gateway.storage.operations.query('SELECT FROM operations.evidence_grants WHERE case_id = $1', [
        rawIdOf(desk.caseId),
      ])
    ).rowCount;

  describe('evidence', () => {
    it('is added in several files, which the API and the page show unchanged', async () => {
      const pdf = pdfFile(30_000);
      const reply = await send([
        file('nota çã.png'),
        file('a.jpg', jpegImage(), 'image/jpeg'),
        file('b.pdf', pdf, 'application/pdf'),
      ]);
      expect([reply.status, reply.headers.get('location')], reply.text).to.deep.equal([
        303,
        `${pageOf()}?done=evidenceSent`,
      ]);
      const added = await desk.list();
      expect(added.map(({ file_name, file_size }) => [file_name, file_size]).toSorted()).to.deep.equal([
        ['a.jpg', jpegImage().length],
        ['b.pdf', pdf.length],
        ['nota çã.png', PNG.length],
      ]);
      const one = added.find(({ file_name }) => file_name === 'b.pdf');
      const sent = await fetch(one?.view_url as string);
      expect(Buffer.from(await sent.arrayBuffer()).equals(pdf)).to.equal(true);
      const page = await gateway.call('GET', pageOf(), { key: null, headers: { ...HTML, ...cookieOf(bearer) } });
      expect(page.text).to.include('nota çã.png');
      expect(await grants()).to.equal(0);
    });
    it('is added once if a form is repeated or contains a file twice', async () => {
      await send([file('a.png'), file('a.png')]);
      expect((await send([file('a.png')])).status).to.equal(303);
      expect(await names()).to.deep.equal(['a.png']);
      await send([file('b.png')]);
      expect(await names()).to.deep.equal(['a.png', 'b.png']);
      expect(await grants()).to.equal(0);
    });
    it('is added once if the same form is sent four times at once; other content under the same name is added too', async () => {
      const form = [file('a.png'), file('b.pdf', pdfFile(30_000), 'application/pdf')];
      const replies = await Promise.all(Array.from({ length: 4 }, () => send(form)));
      expect(
        replies.map(({ status }) => status),
        replies.map(({ text }) => text).join(),
      ).to.deep.equal([303, 303, 303, 303]);
      expect([await names(), await grants()]).to.deep.equal([['a.png', 'b.pdf'], 0]);
      const changed = [file('a.png', pngImage(30, 30))];
      const others = await Promise.all([send(changed), send(changed), send(form)]);
      expect(others.map(({ status }) => status)).to.deep.equal([303, 303, 303]);
      expect([await names(), await grants()]).to.deep.equal([['a.png', 'a.png', 'b.pdf'], 0]);
    });
    it('fills the last place of a case once, although a form with the same file began before and ends later', async () => {
      await send(Array.from({ length: 19 }, (_, n) => file(`${n}.png`, pngImage(20 + n, 20))));
      const form = ownFiles(bearer, [file('last.png')]);
      const { port } = new URL(gateway.baseUrl);
      const headers = { ...HTML, ...cookieOf(bearer), ...form.headers, 'content-length': form.raw.length };
      const asked = request({ port, method: 'POST', path: `${pageOf()}/evidence`, headers });
      const answered = new Promise<number | undefined>((resolve, reject) => {
        asked.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      asked.write(form.raw.subarray(0, -60));
      while ((await grants()) === 0) await new Promise(setImmediate);
      expect((await send([file('last.png')])).status).to.equal(303);
      asked.end(form.raw.subarray(-60));
      expect(await answered).to.equal(303);
      expect((await names()).filter((name) => name === 'last.png')).to.deep.equal(['last.png']);
      expect(await grants()).to.equal(0);
    }).timeout(30_000);
    const refused: readonly (readonly [string, FormFile, RegExp])[] = [
      ['a name with a slash', file('../../etc/passwd.png'), /passwd\.png: The file name must have/],
      ['a name that turns its direction', file('exe.\u202egnp.png'), /The file name must have/],
      ['a name of 10 kB', file(`${'w'.repeat(10_000)}.png`), /The file name must have/],
      ['a type that runs', file('a.html', Buffer.from('<script>'), 'text/html'), /a\.html: The file must be one of/],
      ['another extension', file('a.exe'), /a\.exe: The file name has an extension/],
      ['another content', file('a.png', Buffer.from('<svg onload=alert(1)>')), /a\.png: /],
      ['no content', file('a.png', Buffer.of()), /a\.png: The file must have 1 to/],
      ['too much content', file('a.png', Buffer.alloc(EVIDENCE_BYTES_MAX + 1)), /a\.png: The file must have 1 to/],
    ];
    for (const [what, bad, expected] of refused)
      it(`is rejected and discarded for ${what}, without affecting valid files`, async () => {
        const reply = await send([bad, file('good.png')]);
        expect(reply.status, reply.text).to.equal(422);
        expect(reply.text).to.include(EN.uploads.refused(1, 2)).and.match(expected);
        expect(reply.text).to.not.include('<script>').and.not.include('<svg onload');
        expect(await names()).to.deep.equal(['good.png']);
        expect(await grants()).to.equal(0);
      });
    it('is rejected in Portuguese too, and without a file', async () => {
      const reply = await send([file('a.exe')], { 'accept-language': 'pt-BR' });
      expect(reply.text).to.include('A extensão do nome do arquivo não combina com o tipo image/png.');
      const none = await send([file('', Buffer.of(), 'application/octet-stream')], { 'accept-language': 'pt-BR' });
      expect([none.status, none.text.includes(PT.uploads.none)]).to.deep.equal([422, true]);
    });
    it('is rejected without the session’s token, from another site or origin, and for another account', async () => {
      const stranger = await gateway.logIn('OWNER', await gateway.addUser('OWNER'));
      const forged = [
        await post(`${pageOf()}/evidence`, filesForm({}, [file('a.png')])),
        await post(`${pageOf()}/evidence`, ownFiles(stranger, [file('a.png')])),
        await send([file('a.png')], { 'sec-fetch-site': 'cross-site' }),
        await send([file('a.png')], { origin: 'https://evil.example' }),
      ];
      expect(forged.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403]);
      const own = await post(`${pageOf()}/evidence`, ownFiles(stranger, [file('a.png')]), cookieOf(stranger));
      expect(own.status).to.equal(404);
      expect([await names(), await grants()]).to.deep.equal([[], 0]);
    });
    it('leaves nothing behind if its form is cut off or malformed', async () => {
      const form = ownFiles(bearer, [file('a.png'), file('b.pdf', pdfFile(400_000), 'application/pdf')]);
      const { port } = new URL(gateway.baseUrl);
      const headers = { ...HTML, ...cookieOf(bearer), ...form.headers, 'content-length': form.raw.length };
      const asked = request({ port, method: 'POST', path: `${pageOf()}/evidence`, headers });
      const ended = new Promise((resolve) => asked.on('error', resolve));
      asked.write(form.raw.subarray(0, 200_000));
      while ((await grants()) === 0) await new Promise(setImmediate);
      asked.destroy();
      await ended;
      while ((await grants()) !== 0) await new Promise(setImmediate);
      const half = await post(`${pageOf()}/evidence`, { ...form, raw: form.raw.subarray(0, 200_000) });
      expect(half.status).to.equal(400);
      expect([await names(), await grants()]).to.deep.equal([[], 0]);
    });
    it('is refused, and leaves nothing behind, if the session ends while the form arrives', async () => {
      const form = ownFiles(bearer, [file('a.png'), file('b.pdf', pdfFile(400_000), 'application/pdf')]);
      const { port } = new URL(gateway.baseUrl);
      const headers = { ...HTML, ...cookieOf(bearer), ...form.headers, 'content-length': form.raw.length };
      const asked = request({ port, method: 'POST', path: `${pageOf()}/evidence`, headers });
      const answered = new Promise<number | undefined>((resolve, reject) => {
        asked.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      });
      asked.write(form.raw.subarray(0, 200_000));
      while ((await grants()) === 0) await new Promise(setImmediate);
      const out = await gateway.call('POST', '/v1/auth/logout', { key: null, headers: bearer });
      expect(out.status).to.equal(204);
      asked.end(form.raw.subarray(200_000));
      expect(await answered).to.equal(401);
      expect([await names(), await grants()]).to.deep.equal([[], 0]);
    });
    it('is limited to 20 files and rejected for a closed case', async () => {
      const many = Array.from({ length: 21 }, (_, n) =>
        file(`${String(n).padStart(2, '0')}.png`, pngImage(20 + n, 20)),
      );
      const reply = await send(many);
      expect([reply.status, reply.text.includes(EN.uploads.refused(1, 21))], reply.text).to.deep.equal([422, true]);
      expect(await names()).to.have.lengthOf(20);
      const other = await desk.another();
      await other.answer('accept');
      const late = await post(`${pageOf(other)}/evidence`, ownFiles(bearer, [file('a.png')]));
      expect([late.status, late.text.includes(EN.uploads.ended)]).to.deep.equal([422, true]);
    }).timeout(30_000);
  });

  describe('the logo', () => {
    const asOwner = async () => {
      bearer = await gateway.logIn('OWNER', await gateway.addUser('OWNER', { tenant: desk.merchant.tenant }));
    };
    const logo = (bytes: Uint8Array, headers = {}) =>
      post(
        '/dashboard/test/settings/logo',
        ownFiles(bearer, [{ field: 'logo', name: 'logo.png', type: 'image/png', bytes }]),
        headers,
      );
    it('is uploaded, shown and removed', async () => {
      await asOwner();
      const sent = await logo(PNG);
      expect(sent.headers.get('location'), sent.text).to.equal('/dashboard/test/settings?done=logoChanged');
      const settings = async () =>
        (
          await gateway.call('GET', '/dashboard/test/settings', {
            key: null,
            headers: { ...HTML, ...cookieOf(bearer) },
          })
        ).text;
      const [, path = ''] = /<img src="([^"]+)"[^>]*class="logo-image"/.exec(await settings()) ?? [];
      const shown = await fetch(gateway.baseUrl + path);
      expect(Buffer.from(await shown.arrayBuffer()).equals(PNG)).to.equal(true);
      const removed = await post('/dashboard/test/settings/logo/remove', {
        raw: Buffer.from(
          new URLSearchParams({ csrf: /name="csrf" value="([^"]+)"/.exec(await settings())?.[1] ?? '' }).toString(),
        ),
        headers: { 'content-type': 'application/x-www-form-urlencoded' } as never,
      });
      expect(removed.headers.get('location')).to.equal('/dashboard/test/settings?done=logoRemoved');
      expect(await settings()).to.not.include('logo-image');
    });
    it('is rejected with the reason if it is too large, not an image or too wide', async () => {
      await asOwner();
      for (const [bytes, why] of [
        [Buffer.alloc(LOGO_BYTES_MAX + 1), 'O logotipo pode ter até 65536 bytes.'],
        [Buffer.alloc(8_000_000), 'O logotipo pode ter até 65536 bytes.'],
        [Buffer.from('<svg onload=alert(1)>'), 'O logotipo deve ser um PNG ou um JPEG.'],
        [pngImage(600, 20), 'O logotipo deve ter de 16 a 512 pixels de largura e de altura, e não 600 × 20.'],
      ] as const) {
        const reply = await logo(bytes, { 'accept-language': 'pt-BR' });
        expect([reply.status, reply.text.includes(why)], why).to.deep.equal([422, true]);
      }
    });
    it('is closed to members', async () => {
      expect((await logo(PNG)).status).to.equal(403);
    });
  });
});
