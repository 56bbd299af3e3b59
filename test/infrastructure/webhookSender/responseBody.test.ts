import { hash } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { bodyText, openBodyReader } from '../../../infrastructure/webhookSender/responseBody.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const KEPT = 4_096;

/** Pushes the parts, ends the body, and resolves to the text when the reader is done. */
function read(encoding: unknown, parts: readonly Buffer[]): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = openBodyReader(encoding, () => resolve(reader.text()));
    for (const part of parts) reader.push(part);
    reader.end();
  });
}

/** Pushes the parts without ending the body, so that only the limit can end it. */
function readEndless(encoding: unknown, parts: readonly Buffer[]): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = openBodyReader(encoding, () => resolve(reader.text()));
    for (const part of parts) reader.push(part);
  });
}

const inParts = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

describe('bodyText', () => {
  const CASES: readonly (readonly [string, Buffer, string | null])[] = [
    ['an empty body', Buffer.alloc(0), null],
    ['plain text', Buffer.from('olá, ação €😀'), 'olá, ação €😀'],
    ['a byte order mark', Buffer.from('\uFEFFok'), '\uFEFFok'],
    ['NUL', Buffer.from('a\0b\0'), 'a\uFFFDb\uFFFD'],
    ['broken UTF-8', Buffer.from([0x61, 0xff, 0x62, 0xc3]), 'a\uFFFDb\uFFFD'],
    ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), '\uFFFD\uFFFD\uFFFD'],
    ['exactly 4 KiB', Buffer.alloc(KEPT, 'a'), 'a'.repeat(KEPT)],
    ['more than 4 KiB', Buffer.alloc(KEPT + 1, 'a'), 'a'.repeat(KEPT)],
    ['4 KiB that end inside é', Buffer.from(`${'a'.repeat(KEPT - 1)}é`), 'a'.repeat(KEPT - 1)],
    ['4 KiB that end inside an emoji', Buffer.from(`${'a'.repeat(KEPT - 2)}😀`), 'a'.repeat(KEPT - 2)],
    ['4 KiB that end after an emoji', Buffer.from(`${'a'.repeat(KEPT - 4)}😀b`), `${'a'.repeat(KEPT - 4)}😀`],
    ['4 KiB of broken bytes, which grow', Buffer.alloc(KEPT, 0xff), '\uFFFD'.repeat(1_365)],
    ['4 KiB of NUL, which grow', Buffer.alloc(KEPT), '\uFFFD'.repeat(1_365)],
  ];
  for (const [name, bytes, text] of CASES) {
    it(`keeps as much of ${name} as fits`, () => {
      expect(bodyText(bytes)).to.equal(text);
    });
  }

  it('is well-formed, without NUL and at most 4 KiB, for any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 6_000, size: 'max' }),
      fc.string({ unit: anyCharacter, maxLength: 5_000, size: 'max' }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        const text = bodyText(Buffer.from(body)) ?? '';
        expect(text.isWellFormed()).to.equal(true);
        expect(text.includes('\0')).to.equal(false);
        expect(Buffer.byteLength(text)).to.be.at.most(KEPT);
      }),
    );
  });
});

describe('body reader', () => {
  const text = 'pago: R$ 10,00 às 12h. '.repeat(50);
  const CODINGS: readonly (readonly [string, string, (bytes: Buffer) => Buffer])[] = [
    ['gzip', 'gzip', gzipSync],
    ['gzip named x-gzip', 'X-GZIP', gzipSync],
    ['deflate', 'deflate', deflateSync],
    ['raw deflate', 'deflate', deflateRawSync],
    ['brotli', ' br ', brotliCompressSync],
  ];
  for (const [name, coding, encode] of CODINGS) {
    it(`decodes ${name}, in one part and in many`, async () => {
      const bytes = encode(Buffer.from(text));
      expect(await read(coding, [bytes])).to.equal(text);
      expect(await read(coding, inParts(bytes, 7))).to.equal(text);
    });

    it(`stops reading a ${name} bomb before its end`, async () => {
      const bomb = encode(Buffer.alloc(4_000_000, 'a'));
      expect(await readEndless(coding, [bomb])).to.equal('a'.repeat(KEPT));
    });

    it(`returns the content of a truncated ${name} body`, async () => {
      const noise = Buffer.from(Array.from({ length: 250 }, (_, i) => hash('sha256', `${i}`)).join(''));
      const bytes = encode(noise);
      const cut = (await read(coding, [bytes.subarray(0, bytes.length - 20)])) ?? '';
      expect(cut).to.equal(noise.toString().slice(0, KEPT));
    });
  }

  it('reads an uncompressed body in many parts', async () => {
    expect(await read(undefined, inParts(Buffer.from(text), 3))).to.equal(text);
  });

  it('returns null for an empty body, encoded or not', async () => {
    expect(await read(undefined, [])).to.equal(null);
    expect(await read('gzip', [])).to.equal(null);
    expect(await read('gzip', [gzipSync('')])).to.equal(null);
  });

  it('returns null for a body that does not match its encoding', async () => {
    expect(await read('gzip', [Buffer.from('plain after all')])).to.equal(null);
    expect(await read('br', [Buffer.from([0xff, 0xff, 0xff, 0xff])])).to.equal(null);
  });

  it('keeps the content before an error', async () => {
    const good = gzipSync(Buffer.from('a'.repeat(100)));
    expect(await read('gzip', [good, Buffer.from([0x1f, 0x8b, 0xff, 0xff])])).to.equal('a'.repeat(100));
  });

  it('returns bodies with unknown or several encodings undecoded', async () => {
    expect(await read('zstd', [Buffer.from('as it came')])).to.equal('as it came');
    expect(await read('gzip, br', [Buffer.from('as it came')])).to.equal('as it came');
    expect(await read('identity', [Buffer.from('as it came')])).to.equal('as it came');
  });

  it('decodes two brotli bodies at once and leaves others undecoded, because each may take 16 MiB of memory', async () => {
    const bytes = brotliCompressSync(text);
    const open = () => {
      const reader = openBodyReader('br', () => undefined);
      reader.push(bytes.subarray(0, 1));
      return reader;
    };
    const closed = [open(), open()];
    expect(await read('br', [bytes])).to.equal(bodyText(bytes));
    expect(await readEndless('br', [Buffer.alloc(20_000, 'b')])).to.equal('b'.repeat(KEPT));
    expect(await read('gzip', [gzipSync(text)])).to.equal(text);
    for (const reader of closed) reader.close();
    // Their slots are free after they are closed.
    while ((await read('br', [bytes])) !== text) await new Promise((resolve) => setImmediate(resolve));
    const [first, second] = await Promise.all([read('br', [bytes]), read('br', inParts(bytes, 7))]);
    expect([first, second]).to.deep.equal([text, text]);
  });

  it('is done once, above 16 KiB and not at 16 KiB', () => {
    let done = 0;
    const reader = openBodyReader(undefined, () => {
      done += 1;
    });
    reader.push(Buffer.alloc(16_384, 'a'));
    expect(done).to.equal(0);
    reader.push(Buffer.from('b'));
    expect(done).to.equal(1);
    reader.push(Buffer.from('c'));
    reader.end();
    expect(done).to.equal(1);
    expect(reader.text()).to.equal('a'.repeat(KEPT));
  });

  it('is done once a compressed body has decoded to more than 16 KiB, and not at 16 KiB', async () => {
    const opened = (bytes: number) => {
      let isDone = false;
      const { promise: done, resolve } = Promise.withResolvers<void>();
      const reader = openBodyReader('gzip', () => {
        isDone = true;
        resolve();
      });
      reader.push(gzipSync(Buffer.alloc(bytes, 'a')));
      return { reader, done, isDone: () => isDone };
    };
    await opened(16_385).done;
    const { reader, done, isDone } = opened(16_384);
    while (reader.text() === null) await new Promise((resolve) => setImmediate(resolve));
    expect(isDone()).to.equal(false);
    reader.end();
    await done;
  });

  it('reads at most 16 KiB from the network, even if they decode to less', async () => {
    const emptyBlock = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);
    const endless = Buffer.concat([Buffer.from([0x78, 0x01]), ...Array.from({ length: 4_000 }, () => emptyBlock)]);
    expect(await readEndless('deflate', inParts(endless, 1_000))).to.equal(null);
    const textBlock = Buffer.from([0x01, 0x02, 0x00, 0xfd, 0xff, 0x6f, 0x6b]);
    expect(await read('deflate', [Buffer.concat([endless, textBlock])])).to.equal(null);
    expect(await read('deflate', [Buffer.concat([endless.subarray(0, 2 + 5 * 3_000), textBlock])])).to.equal('ok');
  });
});
