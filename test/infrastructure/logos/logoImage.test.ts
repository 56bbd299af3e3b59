// A logo must be a single complete PNG or JPEG (rule O3).
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { LOGO_BYTES_MAX } from '../../../application/ports/logos.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { checkedLogo } from '../../../infrastructure/logos/logoImage.ts';
import { jpegImage, pngImage } from '../../support/images.ts';

const refusalOf = async (bytes: Uint8Array): Promise<string> => {
  const checked = await checkedLogo(bytes);
  if (!isRejection(checked)) throw new Error(`taken as ${checked.contentType}`);
  expect([checked.code, checked.param]).to.deep.equal(['invalid_request', 'logo']);
  return checked.message;
};
const taken = async (bytes: Uint8Array, contentType: string) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(await checkedLogo(bytes)).to.deep.equal({ contentType, bytes: Buffer.from(bytes), sha256 });
};
const at = (bytes: Buffer, offset: number, ...values: number[]): Buffer => {
  const copy = Buffer.from(bytes);
  copy.set(values, offset);
  return copy;
};
/** Returns a chunk with an invalid checksum: other checks reject the image first, or the decoder rejects the checksum. */
const chunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  return Buffer.concat([head, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
};
const SIGNATURE = pngImage().subarray(0, 8);
const header = (width: number, height: number, depth: number, color: number, interlace: number): Buffer => {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([depth, color, 0, 0, interlace], 8);
  return chunk('IHDR', data);
};
const DAMAGED = 'The logo is damaged, or has data after the image.';
const NEITHER = 'The logo must be a PNG or a JPEG.';

describe('a logo', () => {
  for (const [width, height] of [
    [16, 16],
    [96, 48],
    [512, 512],
    [16, 512],
  ] as const)
    it(`of ${width} × ${height} pixels is accepted as PNG and JPEG`, async () => {
      await taken(pngImage(width, height), 'image/png');
      await taken(jpegImage(width, height), 'image/jpeg');
    });
  for (const colorType of [0, 2, 4, 6] as const)
    it(`is accepted as a PNG of color type ${colorType}`, () => taken(pngImage(64, 64, { colorType }), 'image/png'));
  it('is accepted as part of a larger buffer', async () => {
    const image = pngImage();
    const around = Buffer.concat([Buffer.from('before'), image, Buffer.from('behind')]);
    await taken(around.subarray(6, 6 + image.length), 'image/png');
  });

  for (const [width, height] of [
    [15, 16],
    [16, 513],
    [513, 16],
  ] as const)
    it(`of ${width} × ${height} pixels is rejected`, async () => {
      const said = `The logo must be 16 to 512 pixels wide and high, not ${width} × ${height}.`;
      expect(await refusalOf(pngImage(width, height))).to.equal(said);
      expect(await refusalOf(jpegImage(width, height))).to.equal(said);
    });
  it('with enormous declared dimensions is rejected before it is decoded', async () => {
    const bomb = Buffer.concat([
      SIGNATURE,
      header(100_000, 100_000, 8, 6, 0),
      chunk('IDAT', deflateSync(Buffer.alloc(40_000_000))),
      chunk('IEND', Buffer.alloc(0)),
    ]);
    expect(bomb.length).to.be.below(LOGO_BYTES_MAX);
    expect(await refusalOf(bomb)).to.contain('not 100000 × 100000');
  });
  it('that inflates to a size other than its header declares is rejected', async () => {
    for (const size of [0, 100, 40_000_000]) {
      const parts = [SIGNATURE, header(16, 16, 8, 6, 0), chunk('IDAT', deflateSync(Buffer.alloc(size)))];
      expect(await refusalOf(Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]))).to.equal(DAMAGED);
    }
  });
  it('of more than 64 kB is rejected, whatever its content', async () => {
    const tooMuch = 'The logo must have at most 65536 bytes.';
    expect(await refusalOf(Buffer.concat([pngImage(), Buffer.alloc(LOGO_BYTES_MAX)]))).to.equal(tooMuch);
    expect(await refusalOf(Buffer.alloc(LOGO_BYTES_MAX + 1))).to.equal(tooMuch);
    expect(await refusalOf(Buffer.alloc(LOGO_BYTES_MAX))).to.equal(NEITHER);
  });
  it('of another file type is rejected', async () => {
    const others = [
      '',
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
      'GIF89a\x01\0\x01\0\0\0\0;',
      '%PDF-1.7\n',
      '<html></html>',
      '\x89PNG',
      '\xff\xd8',
    ];
    for (const other of others) expect(await refusalOf(Buffer.from(other, 'latin1')), other).to.equal(NEITHER);
    const riff = Buffer.from('RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0', 'latin1');
    expect(await refusalOf(riff)).to.equal(NEITHER);
  });
  it('with an animation (APNG) is rejected', async () => {
    const image = pngImage();
    const animation = chunk('acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]));
    expect(await refusalOf(Buffer.concat([image.subarray(0, 33), animation, image.subarray(33)]))).to.equal(NEITHER);
  });
  it('with data after its end is rejected', async () => {
    for (const behind of ['\0', '<script>alert(1)</script>', 'PK\x03\x04'])
      for (const image of [pngImage(), jpegImage()])
        expect(await refusalOf(Buffer.concat([image, Buffer.from(behind, 'latin1')]))).to.equal(DAMAGED);
    expect(await refusalOf(Buffer.concat([jpegImage(), jpegImage()]))).to.equal(DAMAGED);
  });
  it('that is truncated anywhere is rejected', async () => {
    for (const image of [pngImage(), jpegImage()])
      for (let length = 12; length < image.length; length += 7)
        expect(await refusalOf(image.subarray(0, length))).to.be.oneOf([DAMAGED, NEITHER]);
  });
  it('with corrupted bytes is accepted or rejected, but never throws', async () => {
    const image = fc.constantFrom(pngImage(32, 32), jpegImage(32, 32), jpegImage(64, 16));
    const turns = fc.array(fc.tuple(fc.nat({ max: 4_000 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(image, turns, async (original, all) => {
        const turned = Buffer.from(original);
        for (const [offset, value] of all) turned[offset % turned.length] = value;
        const checked = await checkedLogo(turned);
        if (isRejection(checked)) expect(checked.param).to.equal('logo');
        else expect(checked.bytes.equals(turned)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
  it('with 16 bits per channel, interlacing or a wrong checksum is rejected', async () => {
    expect(await refusalOf(pngImage(32, 32, { bitDepth: 16 }))).to.equal(
      'The logo must have 8 bits per channel, not 16.',
    );
    expect(await refusalOf(at(pngImage(), 28, 1))).to.equal('The logo must not be interlaced.');
    expect(await refusalOf(at(pngImage(), 32, 0))).to.equal(DAMAGED);
  });

  describe('as a JPEG', () => {
    const image = jpegImage();
    const frame = image.indexOf(Buffer.from([0xff, 0xc0]));
    const scan = image.indexOf(Buffer.from([0xff, 0xda]));
    it('with CMYK, lossless coding, or not exactly one frame is rejected', async () => {
      expect(await refusalOf(at(image, frame + 9, 4))).to.equal('The logo must be grey or RGB.');
      expect(await refusalOf(at(image, frame + 1, 0xc3))).to.equal(DAMAGED);
      const frameLength = 2 + image.readUInt16BE(frame + 2);
      const twice = [image.subarray(0, scan), image.subarray(frame, frame + frameLength), image.subarray(scan)];
      expect(await refusalOf(Buffer.concat(twice))).to.equal(DAMAGED);
      expect(await refusalOf(Buffer.concat([image.subarray(0, frame), image.subarray(frame + frameLength)]))).to.equal(
        DAMAGED,
      );
    });
    it('with thousands of scans, each a pass over the image, is rejected before it is decoded', async () => {
      const scanHead = image.subarray(scan, scan + 2 + image.readUInt16BE(scan + 2));
      const ofScans = (length: number) =>
        Buffer.concat([image.subarray(0, scan), ...Array.from({ length }, () => scanHead), Buffer.from([0xff, 0xd9])]);
      const bomb = ofScans(4_000);
      expect(bomb.length).to.be.below(LOGO_BYTES_MAX);
      for (const many of [bomb, ofScans(17)])
        expect(await refusalOf(many)).to.equal('The logo must have at most 16 scans.');
      // 16 scans are decoded, and rejected because they hold no image.
      expect(await refusalOf(ofScans(16))).to.equal(DAMAGED);
    });
    it('with a comment, a thumbnail inside a segment and restart markers is accepted', async () => {
      const thumbnail = jpegImage(16, 16);
      const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0, 0]), thumbnail]);
      segment.writeUInt16BE(thumbnail.length + 2, 2);
      await taken(Buffer.concat([image.subarray(0, 2), segment, image.subarray(2)]), 'image/jpeg');
    });
  });
});
