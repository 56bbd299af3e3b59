// A file is accepted as evidence only if it is a single file of its declared type (rule Q6).
import { expect } from 'chai';
import fc from 'fast-check';
import { EVIDENCE_BYTES_MAX, EVIDENCE_TYPES, type EvidenceType } from '../../../domain/dispute/evidenceFile.ts';
import { evidenceProblem } from '../../../infrastructure/evidence/evidenceFile.ts';
import { PARTS_MAX, SUB_BLOCKS_MAX } from '../../../infrastructure/imageFrames.ts';
import { gifImage, jpegImage, pdfFile, pngImage, webpImage } from '../../support/images.ts';

const FILES: { readonly [Type in EvidenceType]: () => Buffer } = {
  'image/png': pngImage,
  'image/jpeg': jpegImage,
  'image/webp': webpImage,
  'image/gif': gifImage,
  'application/pdf': pdfFile,
};
const IMAGES = EVIDENCE_TYPES.filter((type) => type !== 'application/pdf');

const refused = async (bytes: Buffer, type: string, what: string): Promise<void> => {
  const problem = await evidenceProblem(bytes, type);
  expect([problem?.code, problem?.message]).to.deep.equal([
    'invalid_evidence',
    `The file ${what}. Request a new upload and send another file.`,
  ]);
};
const taken = async (bytes: Buffer, type: string): Promise<void> =>
  void expect(await evidenceProblem(bytes, type)).to.equal(null);

const SEVERAL = 'contains several files';
const BEHIND = 'has data after the end of the image';
const DAMAGED = 'is damaged, incomplete, or made of too many parts';

const chunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
};
/** Returns an image with this text in a metadata section, which readers skip. */
const withText: { readonly [type: string]: (text: Buffer) => Buffer } = {
  'image/png': (text) => {
    const png = pngImage();
    return Buffer.concat([png.subarray(0, 33), chunk('tEXt', text), png.subarray(33)]);
  },
  'image/jpeg': (text) => {
    const jpeg = jpegImage();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(text.length + 2);
    return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe]), length, text, jpeg.subarray(2)]);
  },
  'image/gif': (text) => {
    const gif = gifImage();
    return Buffer.concat([
      gif.subarray(0, 19),
      Buffer.from([0x21, 0xfe, text.length]),
      text,
      Buffer.from([0]),
      gif.subarray(19),
    ]);
  },
  'image/webp': (text) => {
    const even = Buffer.concat([text, Buffer.alloc(text.length % 2)]);
    const head = Buffer.alloc(8);
    head.write('EXIF', 'latin1');
    head.writeUInt32LE(even.length, 4);
    const webp = Buffer.concat([webpImage(), head, even]);
    webp.writeUInt32LE(webp.length - 8, 4);
    return webp;
  },
};
const ZIP_END = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]);

describe('a file of evidence', () => {
  for (const type of EVIDENCE_TYPES) it(`is accepted as ${type}`, () => taken(FILES[type](), type));
  for (const type of EVIDENCE_TYPES)
    for (const declared of EVIDENCE_TYPES)
      if (type !== declared)
        it(`of ${type} is rejected as ${declared}`, () =>
          refused(FILES[type](), declared, `does not have the declared type ${declared}`));
  for (const [what, text] of [
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['HTML', '<!doctype html><p>hello'],
    ['text', 'hello'],
    ['nothing', ''],
  ] as const)
    it(`is rejected if it is ${what}, whatever its declared type`, async () => {
      for (const type of [...EVIDENCE_TYPES, 'image/svg+xml'])
        await refused(Buffer.from(text), type, `does not have the declared type ${type}`);
    });
  for (const type of IMAGES) {
    it(`is rejected as ${type} if it is truncated or has data after its end`, async () => {
      const whole = FILES[type]();
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: whole.length - 1 }), async (length) => {
          expect((await evidenceProblem(whole.subarray(0, length), type))?.code).to.equal('invalid_evidence');
        }),
        { numRuns: 60 },
      );
      await refused(Buffer.concat([whole, Buffer.from([0])]), type, BEHIND);
      for (const other of EVIDENCE_TYPES) await refused(Buffer.concat([whole, FILES[other]()]), type, BEHIND);
    });
    it(`is accepted as ${type} with a text in it, unless the text is another file`, async () => {
      const put = withText[type] as (text: Buffer) => Buffer;
      await taken(put(Buffer.from('Comprovante de entrega, 22/11/2026')), type);
      for (const other of [
        '%PDF-1.4',
        '<script>alert(1)</script>',
        '<svg onload=alert(1)>',
        '<!DOCTYPE html>',
        '<?php echo 1;',
      ])
        await refused(put(Buffer.from(other)), type, SEVERAL);
      await refused(put(ZIP_END), type, SEVERAL);
      await refused(put(pngImage(16, 16).subarray(0, 16)), type, SEVERAL);
    });
  }
  it('is accepted with 50 megapixels, and rejected with one more row', async () => {
    await taken(gifImage(10_000, 5_000), 'image/gif');
    await refused(gifImage(10_000, 5_001), 'image/gif', 'has 10000 × 5001 pixels; the maximum is 50 megapixels');
    const png = pngImage();
    png.writeUInt32BE(50_000, 16);
    png.writeUInt32BE(50_000, 20);
    await refused(png, 'image/png', 'has 50000 × 50000 pixels; the maximum is 50 megapixels');
    const jpeg = jpegImage();
    const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    jpeg.writeUInt16BE(60_000, frame + 5);
    jpeg.writeUInt16BE(60_000, frame + 7);
    await refused(jpeg, 'image/jpeg', 'has 60000 × 60000 pixels; the maximum is 50 megapixels');
    const webp = webpImage();
    webp.writeUInt16LE(16_383, 26);
    webp.writeUInt16LE(16_383, 28);
    await refused(webp, 'image/webp', 'has 16383 × 16383 pixels; the maximum is 50 megapixels');
  });
  it('is accepted with a few thousand parts, and rejected with more than any real file has', async () => {
    const between = (head: Buffer, part: Buffer, count: number, tail: Buffer) =>
      Buffer.concat([head, ...Array<Buffer>(count).fill(part), tail]);
    const [png, jpeg, gif, webp] = [pngImage(), jpegImage(), gifImage(), webpImage()] as const;
    const made: { readonly [type: string]: (count: number) => Buffer } = {
      'image/png': (count) => between(png.subarray(0, 33), chunk('tEXt', Buffer.alloc(0)), count, png.subarray(33)),
      'image/jpeg': (count) => between(jpeg.subarray(0, 2), Buffer.from('fffe0002', 'hex'), count, jpeg.subarray(2)),
      'image/gif': (count) => between(gif.subarray(0, 19), Buffer.from('21fe00', 'hex'), count, gif.subarray(19)),
      'image/webp': (count) => {
        const file = between(webp, Buffer.from('4558494600000000', 'hex'), count, Buffer.alloc(0));
        file.writeUInt32LE(file.length - 8, 4);
        return file;
      },
    };
    for (const [type, make] of Object.entries(made)) {
      // For PNG, the type detector reads only the first 512 chunks.
      await taken(make(type === 'image/png' ? 500 : 4_000), type);
      expect((await evidenceProblem(make(PARTS_MAX), type))?.code, type).to.equal('invalid_evidence');
      if (type !== 'image/png') await refused(make(PARTS_MAX), type, DAMAGED);
    }
    const blocks = (count: number) =>
      between(gif.subarray(0, 21), Buffer.from('0161', 'hex'), count, gif.subarray(21)).fill(0xfe, 20, 21);
    await taken(blocks(41_200), 'image/gif');
    await refused(blocks(SUB_BLOCKS_MAX), 'image/gif', DAMAGED);
  });
  it('is rejected as damaged if its width and height are 0', async () => {
    await refused(gifImage(0, 0).fill(0, 24, 28).fill(0, 32, 36), 'image/gif', DAMAGED);
  });
  it('is accepted as a PDF with images and trailing blanks, but rejected with another file in it', async () => {
    await taken(Buffer.concat([pdfFile(), Buffer.from('\r\n \0\n')]), 'application/pdf');
    await taken(
      Buffer.concat([Buffer.from('%PDF-1.4\nstream\n'), jpegImage(), Buffer.from('\nendstream\n%%EOF')]),
      'application/pdf',
    );
    for (const other of [
      ...EVIDENCE_TYPES.map((type) => FILES[type]()),
      ZIP_END,
      Buffer.from('<html><script>1</script>'),
    ])
      await refused(Buffer.concat([pdfFile(), other]), 'application/pdf', SEVERAL);
    await refused(Buffer.concat([Buffer.from('%PDF-1.4\n'), pngImage()]), 'application/pdf', SEVERAL);
  });
  it('is accepted with the maximum size', async () => {
    const padding = EVIDENCE_BYTES_MAX - pdfFile().length;
    await taken(pdfFile(padding), 'application/pdf');
  });
});
