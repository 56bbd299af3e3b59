// How a merchant looks to payers: logo and color on the checkout, logo on receipts, set by an operator (rules I7, O3).
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { runWords } from '../../../support/cli.ts';
import { jpegImage, pngImage } from '../../../support/images.ts';
import { startedDatabase, TestGateway } from '../../../world/gateway.ts';
import { eventTypes, expectError, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const shaOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('branding', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let folder: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    folder = await mkdtemp(join(tmpdir(), 'quita-logos-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await gateway.close();
    await database.drop();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  type Shop = Awaited<ReturnType<typeof Merchant.open>>;
  const settings = async ({ tenant }: Shop, ...words: string[]) => {
    const all = ['account', 'settings', tenant.accountId, ...words, '--json'];
    const { code, err, json } = await runWords<{ settings: Record<string, unknown> }>(
      database.connectionString,
      ...all,
    );
    return { code, err, logo: json?.settings['logo'], color: json?.settings['color'] };
  };
  const file = async (name: string, bytes: Uint8Array | string): Promise<string> => {
    await writeFile(join(folder, name), bytes);
    return join(folder, name);
  };
  const page = async (id: string): Promise<string> => (await fetch(`${gateway.baseUrl}/pay/${rawIdOf(id)}`)).text();
  /** Waits until the page contains the text: another process changed the account, and the gateway learns of it a moment later. */
  const untilPage = async (id: string, text: string): Promise<string> => {
    const found = await pollUntil(gateway.gateway.projected, 20_000, async () => {
      const html = await page(id);
      return html.includes(text) ? html : null;
    });
    if (found === null) throw new Error(`no ${text} within 20 s`);
    return found;
  };
  const image = (sha256: string) => fetch(`${gateway.baseUrl}/pay/logos/${sha256}`);
  const rows = async ({ tenant }: Shop): Promise<string[]> => {
    const { rows: found } = await gateway.storage.operations.query<{ sha256: string }>(
      'SELECT sha256 FROM operations.logos WHERE account_id = $1 ORDER BY created_at',
      [tenant.accountId],
    );
    return found.map(({ sha256 }) => sha256);
  };

  it('is Quita’s by default; the merchant’s own logo and color apply to existing charges too', async () => {
    const shop = await Merchant.open(gateway);
    const { id } = await shop.charge();
    const before = await page(id);
    expect(before).to.contain('class="brand"').and.not.to.contain('/pay/colors/').and.not.to.contain('/pay/logos/');

    const png = pngImage();
    const changes = () => eventTypes(gateway, ACCOUNT.stream(shop.tenant.accountId));
    const opened = await changes();
    const done = await settings(shop, '--logo', await file('a.png', png), '--color', '#FFE600');
    expect(done).to.deep.equal({ code: 0, err: done.err, logo: shaOf(png), color: '#ffe600' });
    // Both settings change in one event, so neither can change alone.
    expect(await changes()).to.deep.equal([...opened, 'AccountSettingsChanged']);
    const html = await untilPage(id, `<img src="/pay/logos/${shaOf(png)}" alt="Loja de Teste">`);
    expect(html).to.not.contain('class="brand"');
    const [, href] = /<link rel="stylesheet" href="(\/pay\/colors\/ffe600\.css\?v=[0-9a-f]{16})">/.exec(html) ?? [];
    expect(html.indexOf(href as string)).to.be.above(html.indexOf('preferences.css'));

    const sheet = await fetch(gateway.baseUrl + href);
    expect(sheet.headers.get('content-type')).to.equal('text/css; charset=utf-8');
    expect(sheet.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(await sheet.text()).to.contain('--accent:#ffe600');

    expect(await settings(shop, '--logo', 'none', '--color', 'none')).to.include({ code: 0, logo: null, color: null });
    const after = await untilPage(id, 'class="brand"');
    expect(after).to.equal(before.replace(/data-now="[^"]+"/, /data-now="[^"]+"/.exec(after)?.[0] as string));
  });
  it('serves a logo as an immutable image under a strict policy', async () => {
    const shop = await Merchant.open(gateway);
    for (const [name, bytes, contentType] of [
      ['b.png', pngImage(64, 64), 'image/png'],
      ['b.jpg', jpegImage(64, 64), 'image/jpeg'],
    ] as const) {
      await settings(shop, '--logo', await file(name, bytes));
      const reply = await image(shaOf(bytes));
      const headers = [
        'content-type',
        'cache-control',
        'etag',
        'content-security-policy',
        'x-content-type-options',
        'cross-origin-resource-policy',
      ].map((header) => reply.headers.get(header));
      expect([reply.status, ...headers]).to.deep.equal([
        200,
        contentType,
        'public, max-age=31536000, immutable',
        `"${shaOf(bytes)}"`,
        "default-src 'none'; sandbox",
        'nosniff',
        'same-origin',
      ]);
      expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).to.equal(true);
    }
  });
  it('puts the logo on receipts, for every PNG color type and JPEG', async () => {
    const shop = await Merchant.open(gateway);
    const { id } = await shop.charge();
    await shop.pay(id);
    const receipt = async () =>
      Buffer.from(await (await fetch(`${gateway.baseUrl}/pay/${rawIdOf(id)}/receipt.pdf`)).arrayBuffer()).toString(
        'latin1',
      );
    expect(await receipt()).to.not.contain('/Subtype /Image');
    const images = [...([0, 2, 4, 6] as const).map((colorType) => pngImage(80, 40, { colorType })), jpegImage(80, 40)];
    for (const [i, bytes] of images.entries()) {
      await settings(shop, '--logo', await file(`${i}.img`, bytes));
      await untilPage(id, shaOf(bytes));
      expect(await receipt())
        .to.contain('/Subtype /Image\n')
        .and.to.contain('/Width 80\n/Height 40\n');
      const { body } = await shop.get<{ base64: string }>(`/v1/payments/${rawIdOf(id)}/receipt`);
      expect(Buffer.from(body.base64, 'base64').toString('latin1')).to.contain('/Subtype /Image\n');
    }
  });
  it('keeps the current and the previous logo, and none after removal', async () => {
    const shop = await Merchant.open(gateway);
    const [a, b, c] = [pngImage(20, 20), pngImage(21, 21), pngImage(22, 22)].map(
      (bytes) => [bytes, shaOf(bytes)] as const,
    ) as [readonly [Buffer, string], readonly [Buffer, string], readonly [Buffer, string]];
    const set = async ([bytes, sha]: readonly [Buffer, string]) =>
      expect(await settings(shop, '--logo', await file(sha, bytes))).to.include({ code: 0, logo: sha });
    await set(a);
    await set(a); // twice
    expect(await rows(shop)).to.deep.equal([a[1]]);
    await set(b);
    expect(await rows(shop)).to.deep.equal([a[1], b[1]]);
    await set(c);
    expect(await rows(shop)).to.deep.equal([b[1], c[1]]);
    await set(b);
    expect((await rows(shop)).sort()).to.deep.equal([b[1], c[1]].sort());
    expect((await image(c[1])).status).to.equal(200);

    const other = await Merchant.open(gateway); // has the same image
    await settings(other, '--logo', await file('same', b[0]));
    await settings(shop, '--logo', 'none');
    expect([await rows(shop), await rows(other)]).to.deep.equal([[], [b[1]]]);
    expect((await image(b[1])).status).to.equal(200);
    await settings(other, '--logo', 'none');
    const gone = await gateway.get(`/pay/logos/${b[1]}`);
    expectError(gone, 404, 'not_found');
  });
  it('changes nothing if the image is invalid or another setting is out of bounds', async () => {
    const shop = await Merchant.open(gateway);
    const svg = await file('x.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
    const refused = async (message: string, ...words: string[]) => {
      const { code, err } = await settings(shop, ...words);
      expect([code, err.split('\n').filter((line) => !line.startsWith('{'))]).to.deep.equal([
        2,
        [`quita: ${message}`, ''],
      ]);
    };
    await refused('The logo must be a PNG or a JPEG.', '--logo', svg, '--color', '#000000');
    await refused(
      '--color must be a color such as #1a7f5c',
      '--logo',
      await file('d.png', pngImage(30, 30)),
      '--color',
      'red',
    );
    await refused(`--logo "${folder}/none.png" can't be read`, '--logo', `${folder}/none.png`);
    expect(await settings(shop)).to.include({ logo: null, color: null });
    expect(await rows(shop)).to.deep.equal([]);
  });
  it('returns 404 for invalid and unknown names', async () => {
    for (const path of [
      '/pay/logos/x',
      `/pay/logos/${'A'.repeat(64)}`,
      `/pay/logos/${'0'.repeat(64)}`,
      '/pay/colors/red.css',
    ])
      expectError(await gateway.get(path), 404, 'not_found');
  });
});
