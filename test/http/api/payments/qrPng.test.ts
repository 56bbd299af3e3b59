import { crc32, inflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { create } from 'qrcode';
import { qrPngDataUrl, renderQrPng } from '../../../../http/site/qrPng.ts';

const BR_CODE =
  '00020101021226850014br.gov.bcb.pix2563pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25abcdefgh' +
  '5204000053039865406123.455802BR5912Loja Exemplo6009SAO PAULO62070503***6304ABCD';

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const chunksOf = (png: Buffer): Chunk[] => {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    expect(png.readUInt32BE(at + 8 + length)).to.equal(crc32(png.subarray(at + 4, at + 8 + length)));
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
};

/** Returns the image as rows of # (black) and . (white), one character per pixel. */
const pixelRows = (png: Buffer): string[] => {
  const [header, pixels] = chunksOf(png);
  const side = header!.data.readUInt32BE(0);
  const stride = 1 + Math.ceil(side / 8);
  const lines = inflateSync(pixels!.data);
  expect(lines.length).to.equal(stride * side);
  return Array.from({ length: side }, (_, y) => {
    const line = lines.subarray(y * stride, (y + 1) * stride);
    expect(line[0], 'filter type').to.equal(0);
    return Array.from({ length: side }, (_, x) => ((line[1 + (x >> 3)]! >> (7 - (x & 7))) & 1 ? '.' : '#')).join('');
  });
};

/** Returns the expected rows: the code’s matrix at level M with a border of 4 light modules, enlarged. */
const expectedRows = (brCode: string, side: number): string[] => {
  const { modules } = create(brCode, { errorCorrectionLevel: 'M' });
  const scale = side / (modules.size + 8);
  expect(Number.isInteger(scale)).to.equal(true);
  return Array.from({ length: side }, (_, y) =>
    Array.from({ length: side }, (_, x) => {
      const row = Math.floor(y / scale) - 4;
      const column = Math.floor(x / scale) - 4;
      const inside = row >= 0 && column >= 0 && row < modules.size && column < modules.size;
      return inside && modules.get(row, column) ? '#' : '.';
    }).join(''),
  );
};

describe('QR image', () => {
  it('is a square 1-bit grayscale PNG', async () => {
    const png = await renderQrPng(BR_CODE);
    expect(png.subarray(0, 8).toString('hex')).to.equal('89504e470d0a1a0a');
    expect(chunksOf(png).map((chunk) => chunk.type)).to.deep.equal(['IHDR', 'IDAT', 'IEND']);
    const side = 456; // 49 modules plus 8 of border, 8 pixels each
    const header = Buffer.from([0, 0, side >> 8, side & 255, 0, 0, side >> 8, side & 255, 1, 0, 0, 0, 0]);
    expect(chunksOf(png)[0]!.data.toString('hex')).to.equal(header.toString('hex'));
  });

  it('shows the code’s matrix, module by module', async () => {
    expect(pixelRows(await renderQrPng(BR_CODE))).to.deep.equal(expectedRows(BR_CODE, 456));
  });

  it('shows texts of up to 512 ASCII characters in 300 to 600 pixels and below 4 KiB', async () => {
    const codes = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 512 });
    await fc.assert(
      fc.asyncProperty(codes, async (code) => {
        const png = await renderQrPng(code);
        const side = png.readUInt32BE(16);
        expect(side).to.be.within(300, 600);
        expect(png.length).to.be.below(4_096);
        expect(pixelRows(png)).to.deep.equal(expectedRows(code, side));
      }),
      { numRuns: 15 },
    );
  });

  it('is rendered once per code, also under concurrency', async () => {
    const code = `${BR_CODE}once`;
    const [first, second] = await Promise.all([renderQrPng(code), renderQrPng(code)]);
    expect(second).to.equal(first);
    expect(await renderQrPng(code)).to.equal(first);
  });

  it('differs for another code', async () => {
    const other = BR_CODE.replace('123.45', '123.46');
    expect(pixelRows(await renderQrPng(other))).to.deep.equal(expectedRows(other, 456));
    expect((await renderQrPng(other)).equals(await renderQrPng(BR_CODE))).to.equal(false);
  });

  it('has the same bytes when rendered again after its eviction from the cache', async () => {
    const first = await renderQrPng('evicted');
    for (let index = 0; index < 256; index++) await renderQrPng(`code ${index}`);
    const again = await renderQrPng('evicted');
    expect(again).to.not.equal(first);
    expect(again.equals(first)).to.equal(true);
  });

  it('stays in the cache while it is used', async () => {
    const first = await renderQrPng('popular');
    for (let index = 0; index < 300; index++) {
      await renderQrPng(`other ${index}`);
      expect(await renderQrPng('popular')).to.equal(first);
    }
  });

  it('fails each time for codes that no symbol can hold', async () => {
    const outcome = (code: string) =>
      renderQrPng(code).then(
        () => 'rendered',
        (error: Error) => error.message,
      );
    for (const code of ['', 'x'.repeat(3_000)]) {
      const message = await outcome(code);
      expect(message).to.not.equal('rendered');
      expect(await outcome(code)).to.equal(message);
    }
  });

  it('is also available as a data URL', async () => {
    const png = await renderQrPng(BR_CODE);
    expect(await qrPngDataUrl(BR_CODE)).to.equal(`data:image/png;base64,${png.toString('base64')}`);
  });
});
