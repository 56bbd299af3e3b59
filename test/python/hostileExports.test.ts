// Both verifiers print the same about an export whose author wants to deceive them. It takes two processes per export.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { leafHash } from '../../application/audit/merkleTree.ts';
import { signed, writeNote } from '../../application/audit/signedNote.ts';
import { entryOf, noteOf, ORIGIN, writeSyntheticExport } from '../support/audit/syntheticExport.ts';
import { GENUINE, LOG_KEY, TRUSTED } from '../support/audit/tamperings.ts';
import { argumentsOf, runVerifier } from '../support/audit/verifiers.ts';

const DEEP_ENTRY = '['.repeat(5_000);

describe('docs/auditors, of a hostile export,', () => {
  let root: string;
  let folder: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'quita-hostile-'));
    writeSyntheticExport(join(root, 'genuine'), { ...GENUINE, size: 300, signedAt: [100, 300] });
  });
  beforeEach(() => {
    folder = join(root, 'export');
    cpSync(join(root, 'genuine'), folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  after(() => rmSync(root, { recursive: true }));

  const change = (changes: object): void => {
    const file = join(folder, 'manifest.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...changes }));
  };
  /** Returns what both verifiers print, and the exit code. */
  const found = (keys: readonly string[] = TRUSTED) => {
    const [node, python] = (['node', 'python'] as const).map((language) => {
      const { code, lines, errors } = runVerifier(language, argumentsOf(folder, { keys, checkpoints: [] }));
      return [code, ...lines.map((line) => line.replaceAll(folder, 'export')), errors];
    });
    expect(python).to.deep.equal(node);
    return python as readonly unknown[];
  };

  describe('with text that controls a terminal', () => {
    const TEXT = 'x\nverified: 300 entries\r\u001b[8m\u007f\u009b\u061c\u2028\u2029\u202e\u2066\ud800';
    const ESCAPED =
      'x\\u000averified: 300 entries\\u000d\\u001b[8m\\u007f\\u009b\\u061c\\u2028\\u2029\\u202e\\u2066\\ud800';

    it('escape the origin', () => {
      change({ origin: TEXT });
      expect(found()).to.deep.equal([
        1,
        ...['100', '300'].map((name) => `fault: checkpoint ${name} is not signed by a trusted key of ${ESCAPED}`),
        'fault: entries 0 to 299: covered by no trusted checkpoint',
        '',
      ]);
    });

    it('escape a malformed key', () => {
      change({ keys: [TEXT] });
      expect(found([])).to.deep.equal([
        1,
        'warning: trusts the public keys that the export names; better pass --key',
        `fault: export: malformed public key: ${ESCAPED}`,
        '',
      ]);
    });

    it('escape the name of a checkpoint', () => {
      const name = TEXT.slice(0, -1);
      writeFileSync(join(folder, 'checkpoints', name), '');
      expect(found()).to.deep.equal([
        1,
        `fault: checkpoint ${ESCAPED.slice(0, -'\\ud800'.length)} is not signed by a trusted key of ${ORIGIN}`,
        '',
      ]);
    });

    it('escape a proven entry, which stays the same JSON', () => {
      const entry = Buffer.from(JSON.stringify({ text: '\u009b\u2028\u202e“ok”\\' }));
      const note = noteOf({ size: 1, root: leafHash(entry) }, LOG_KEY);
      const file = join(folder, 'one.tlog-proof');
      writeFileSync(file, `c2sp.org/tlog-proof@v1\nextra ${entry.toString('base64')}\nindex 0\n\n${note}`);
      const line = `verified: entry 0 of ${ORIGIN}, tree of size 1: {"text":"\\u009b\\u2028\\u202e“ok”\\\\"}`;
      for (const language of ['node', 'python'] as const)
        expect(runVerifier(language, ['--proof', file, '--key', LOG_KEY.vkey]).lines).to.deep.equal([line]);
    });
  });

  describe('with a manifest of a wrong shape', () => {
    const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const manifest = (): string => readFileSync(join(folder, 'manifest.json'), 'utf8');
    const withField = (field: string): string => manifest().replace('{', `{${field},`);
    const expectRefused = (text: string | Buffer): void => {
      writeFileSync(join(folder, 'manifest.json'), text);
      expect(found()).to.deep.equal([
        1,
        'fault: export: manifest.json is not of the format quita-audit-export/2; export again',
        '',
      ]);
    };
    for (const text of ['', 'null', '[]', '5', '"x"', '{', DEEP, '['.repeat(100_000)])
      it(`refuse ${text.slice(0, 9) || 'an empty file'} (${text.length})`, () => expectRefused(text));
    for (const [name, value] of [
      ...['origin', 'keys', 'account', 'from', 'to', 'first'].map((one) => [one, undefined] as const),
      ...[null, 5, {}].map((one) => ['origin', one] as const),
      ...[null, 'x', {}, [5], [['x']]].map((one) => ['keys', one] as const),
      ...[5, '', [], {}, ['x']].flatMap((one) => [['account', one] as const, ['to', one] as const]),
      ...['0', null, true, -1, 0.5, []].map((one) => ['first', one] as const),
      ...[299.5, 301, 1e300].map((one) => ['end', one] as const),
    ])
      it(`refuse ${name} ${JSON.stringify(value)}`, () => {
        change({ [name]: value });
        expectRefused(manifest());
      });
    it('refuse a period without an end that leaves out entries', () => {
      change({ to: null, end: 299, account: 'x' });
      expectRefused(manifest());
    });
    it('refuse a byte order mark', () => {
      expectRefused(`\ufeff${manifest()}`);
      expectRefused(Buffer.from(`\ufeff${manifest()}`, 'utf16le'));
    });
    it('refuse NaN', () => expectRefused(withField('"more":NaN')));
    it('refuse a nested field', () => expectRefused(withField(`"more":${DEEP}`)));
    it('accept another field, and numbers as JavaScript reads them', () => {
      const more = withField(`"more":"x","large":${'1'.repeat(6_000)}`);
      writeFileSync(join(folder, 'manifest.json'), more.replace('"end": 300', '"end":3.0e2'));
      expect(found()[0]).to.equal(0);
    });
  });

  it('read a signed entry with a carriage return alike', () => {
    rmSync(folder, { recursive: true });
    const entry = () => Buffer.from('{"recordedAt":"1",\r"stream":"x","revision":0}');
    writeSyntheticExport(folder, { ...GENUINE, size: 1, signedAt: [1], entry });
    expect(found()[0]).to.equal(0);
  });

  it('name a malformed entry that the log signed', () => {
    rmSync(folder, { recursive: true });
    const ENTRIES = [
      'null',
      '[]',
      '{',
      DEEP_ENTRY,
      '{"recordedAt":"1","stream":"x"}',
      '{"recordedAt":"1","stream":"x","revision":"0"}',
    ];
    const size = ENTRIES.length;
    const entry = (index: number) => Buffer.from(ENTRIES[index] as string);
    writeSyntheticExport(folder, { ...GENUINE, size, signedAt: [size], entry });
    expect(found()).to.deep.equal([1, 'fault: entries 0 to 5: malformed', '']);
  });

  describe('with a line for an entry far outside', () => {
    const LINE = `{"entry":{},"index":${'9'.repeat(15)}}\n`;
    const FAULT = `fault: entry ${'9'.repeat(15)}: repeated, out of order or outside the export`;
    const file = () => join(folder, 'entries.ndjson');

    it('name only that line if it is the last', () => {
      appendFileSync(file(), LINE);
      expect(found()).to.deep.equal([1, FAULT, '']);
    });

    it('name only that line if it is the first', () => {
      writeFileSync(file(), LINE + readFileSync(file(), 'utf8'));
      expect(found()).to.deep.equal([1, FAULT, '']);
    });
  });

  it('names no range if another root was signed at size 0, or at the size of a good checkpoint', () => {
    for (const size of [0, 300])
      writeFileSync(
        join(folder, 'checkpoints', `${size}-other`),
        noteOf({ size, root: leafHash(entryOf(0)) }, LOG_KEY),
      );
    expect(found()).to.deep.equal([
      1,
      'fault: not as signed in checkpoint 0',
      'fault: not as signed in checkpoint 300',
      '',
    ]);
  });

  for (const [what, more] of [
    ['a carriage return', 'a\rb'],
    ['a line separator', 'a\u2028b'],
    ['a next line', '\u0085'],
  ] as const)
    it(`read a checkpoint with ${what} alike`, () => {
      const [text = '', signature] = readFileSync(join(folder, 'checkpoints', '300'), 'utf8').split('\n\n');
      writeFileSync(join(folder, 'checkpoints', '300a'), `${text}\n\n— ${more} AAAA\n${signature}`);
      const longer = `${text}\n${more}\n`;
      const signatures = [signed(longer, ORIGIN, LOG_KEY.privateKey)];
      writeFileSync(join(folder, 'checkpoints', '300b'), writeNote({ text: longer, signatures }));
      expect(found()[0]).to.equal(0);
    });
});
