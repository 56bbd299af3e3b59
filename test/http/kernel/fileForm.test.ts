// Forms with files, arriving in chunks of any size: the fields before the first file, then the files.
import { expect } from 'chai';
import fc from 'fast-check';
import { formFileRefusal } from '../../../domain/dispute/evidenceFile.ts';
import { BodyCutOff } from '../../../http/kernel/body.ts';
import { BodyMalformed, bytesOf, readFileForm, skipRest } from '../../../http/kernel/fileForm.ts';
import { type FormFile, filesForm } from '../../world/browser.ts';

const FILES: readonly FormFile[] = [
  { field: 'files', name: 'uma nota ção.png', type: 'image/png', bytes: Buffer.from('first\r\n--quita\r\nfile') },
  { field: 'files', name: '', type: 'application/octet-stream', bytes: Buffer.of() },
  { field: 'files', name: 'a/../b.pdf', type: 'application/pdf', bytes: Buffer.alloc(200_000, 7) },
];
const { raw, headers } = filesForm({ csrf: 'the token', reason: ' spaces ' }, FILES);
const TYPE = headers['content-type'];

async function* inPieces(bytes: Buffer, size: number, end?: Error): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  if (end !== undefined) throw end;
}
const read = async (chunks: AsyncIterable<Buffer>, type = TYPE) => {
  const form = await readFileForm(type, chunks);
  if ('rejected' in form) return form.code;
  const files: [string, string, string][] = [];
  for await (const file of form.body.files)
    files.push([file.fileName, file.contentType, (await bytesOf(file, 1_000_000)).toString('latin1')]);
  return { csrf: form.body.text('csrf'), reason: form.body.text('reason'), files };
};
const failureOf = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => null,
    (error: unknown) => error,
  );

describe('a form with files', () => {
  it('yields its fields and files whatever the chunk size', async () => {
    const expected = {
      csrf: 'the token',
      reason: 'spaces',
      files: [0, 2].map((n) => {
        const { name, type, bytes } = FILES[n] as FormFile;
        return [name, type, Buffer.from(bytes).toString('latin1')];
      }),
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 40, max: raw.length }), async (size) => {
        expect(await read(inPieces(raw, size))).to.deep.equal(expected);
      }),
      { numRuns: 25 },
    );
  });
  it('yields its fields before its files are read', async () => {
    let pulled = 0;
    const counted = async function* () {
      for await (const chunk of inPieces(raw, 4_096)) {
        pulled += chunk.length;
        yield chunk;
      }
    };
    const form = await readFileForm(TYPE, counted());
    expect('body' in form && form.body.text('csrf')).to.equal('the token');
    expect(pulled).to.be.below(raw.length);
  });
  it('ignores fields after a file', async () => {
    const late = filesForm({}, FILES)
      .raw.toString('latin1')
      .replace(/--\r\n$/, '');
    const field = '\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nlate\r\n--quita-form-0123456789--\r\n';
    const form = await readFileForm(TYPE, inPieces(Buffer.from(late + field, 'latin1'), 4_096));
    expect('body' in form && form.body.text('csrf')).to.equal('');
  });
  it('skips unread files and unread parts of files', async () => {
    const form = await readFileForm(TYPE, inPieces(raw, 1_000));
    if (!('body' in form)) throw new Error('refused');
    const first = await form.body.files.next();
    expect((await bytesOf(first.value, 3)).toString()).to.equal('fir');
    const second = await form.body.files.next();
    expect(await bytesOf(second.value, 1_000)).to.have.lengthOf(1_000);
    await skipRest(form.body);
  });
  it('throws the error of its source before, within and between files', async () => {
    for (const size of [10, 400, 5_000]) {
      const cut = new BodyCutOff('cut');
      expect(await failureOf(read(inPieces(raw.subarray(0, size), 100, cut)))).to.equal(cut);
    }
  });
  it('throws BodyMalformed if it ends early, however much was read', async () => {
    for (const size of [10, 400, 5_000])
      expect(await failureOf(read(inPieces(raw.subarray(0, size), 100)))).to.be.instanceOf(BodyMalformed);
    const form = await readFileForm(TYPE, inPieces(raw.subarray(0, 5_000), 100));
    expect(await failureOf(skipRest((form as { body: never }).body))).to.be.instanceOf(BodyMalformed);
  });
  it('may name a file with an unpaired surrogate, which is refused (I14)', async () => {
    const name = "filename*=utf-16le''%00%D8.%00p%00n%00g%00";
    const part = `Content-Disposition: form-data; name="file"; ${name}\r\nContent-Type: image/png\r\n\r\nx`;
    const body = Buffer.from(`--b\r\n${part}\r\n--b--\r\n`);
    const form = await readFileForm('multipart/form-data; boundary=b', inPieces(body, 100));
    if (!('body' in form)) throw new Error('refused');
    const { fileName, contentType } = (await form.body.files.next()).value;
    expect(fileName).to.equal('\ud800.png');
    expect(formFileRefusal({ fileName, mimeType: contentType })).to.have.property('code', 'invalid_file_name');
  });
  it('rejects another content type, a missing boundary and U+0000 in a field', async () => {
    for (const type of ['', 'application/json', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=x'])
      expect(await read(inPieces(raw, 100), type)).to.equal('unsupported_media_type');
    expect(await read(inPieces(raw, 100), 'multipart/form-data')).to.equal('invalid_request');
    expect(await read(inPieces(filesForm({ csrf: 'a\0b' }, FILES).raw, 100))).to.equal('invalid_request');
  });
});
