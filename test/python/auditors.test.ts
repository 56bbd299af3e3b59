// The verifier in Python finds what the one in Node finds. It takes a process per trial.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { leafHash } from '../../application/audit/merkleTree.ts';
import {
  entryOf,
  logKeyOf,
  noteOf,
  ORIGIN,
  type SyntheticLog,
  writeSyntheticExport,
} from '../support/audit/syntheticExport.ts';
import { GENUINE, TRUSTED } from '../support/audit/tamperings.ts';
import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { argumentsOf, byFunction, byPython, runVerifier } from '../support/audit/verifiers.ts';

describe('docs/auditors/verify.py', () => {
  it('finds what was changed, removed, swapped, added or rewritten, and names the place', async () => {
    await expectTamperingsFound([byFunction, byPython], 42);
  });

  describe('of an export whose manifest was changed', () => {
    const ACCOUNT = 'b2'.repeat(13);
    const PERIOD = { first: 40, end: 650 };
    const at = (index: number): string => JSON.parse(entryOf(index).toString()).recordedAt;
    let root: string;
    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'quita-manifest-'));
    });
    afterEach(() => rmSync(root, { recursive: true }));

    type Line = { readonly index: number; readonly entry: { readonly metadata: { readonly account: string } } };
    /** Writes an export, changes its manifest, and removes lines. Returns the exit code and lines of both verifiers. */
    const verified = (
      log: Partial<SyntheticLog>,
      changes: object = {},
      isKept: (line: Line) => boolean = () => true,
    ) => {
      const folder = join(root, 'export');
      writeSyntheticExport(folder, { ...GENUINE, ...log });
      const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...changes }));
      const lines = readFileSync(join(folder, 'entries.ndjson'), 'utf8').split('\n').slice(0, -1);
      const kept = lines.filter((line) => isKept(JSON.parse(line)));
      writeFileSync(join(folder, 'entries.ndjson'), kept.map((line) => `${line}\n`).join(''));
      const [node, python] = (['node', 'python'] as const).map((language) => {
        const { code, lines } = runVerifier(language, argumentsOf(folder, { keys: TRUSTED, checkpoints: [] }));
        return [code, ...lines.map((line) => line.replaceAll(folder, 'export'))];
      });
      expect(python).to.deep.equal(node);
      return node;
    };

    it('names the period and the accounts that it verified, and how many entries are left out', () => {
      expect(verified({})).to.deep.equal([
        0,
        `verified: 700 entries from index 0 to 699 of ${ORIGIN}, in the tree of size 700; ` +
          'period: first entry to newest checkpoint; all accounts',
      ]);
      rmSync(join(root, 'export'), { recursive: true });
      expect(verified(PERIOD)).to.deep.equal([
        0,
        `verified: 610 entries from index 40 to 649 of ${ORIGIN}, in the tree of size 700; ` +
          `period: ${at(40)} to ${at(650)}; all accounts`,
      ]);
      rmSync(join(root, 'export'), { recursive: true });
      const isKept = ({ index, entry }: Line) => entry.metadata.account === ACCOUNT && index < 400;
      expect(verified({}, { account: ACCOUNT }, isKept)).to.deep.equal([
        0,
        `verified: 200 entries from index 0 to 699 of ${ORIGIN}, in the tree of size 700; ` +
          `period: first entry to newest checkpoint, not proved; only account ${ACCOUNT}, 500 entries of others skipped`,
      ]);
    });

    it('verifies a period without entries', () => {
      expect(verified({ first: 40, end: 40 })).to.deep.equal([
        0,
        `verified: no entries of ${ORIGIN}, in the tree of size 700; period: ${at(40)} to ${at(40)}; all accounts`,
      ]);
    });

    it('verifies an export up to the newest checkpoint, whose manifest has no end', () => {
      expect(verified({}, { to: null })?.[0]).to.equal(0);
    });

    it('finds entries of the period that the manifest excludes', () => {
      const isKept = ({ index }: Line) => index >= 49 && index <= 640;
      expect(verified(PERIOD, { first: 50, end: 640 }, isKept)).to.deep.equal([
        1,
        'fault: entry 49: recorded in the period, but excluded by manifest.json',
        'fault: entry 640: recorded in the period, but excluded by manifest.json',
      ]);
    });

    it('finds that the entries around the period are missing', () => {
      const isKept = ({ index }: Line) => index >= 50 && index < 640;
      expect(verified(PERIOD, { first: 50, end: 640 }, isKept)).to.deep.equal([
        1,
        'fault: entry 49: missing',
        'fault: entry 640: missing',
      ]);
    });

    it('finds that no checkpoint covers the entry after the period', () => {
      const signedAt = [650];
      expect(verified({ ...PERIOD, signedAt })).to.deep.equal([
        1,
        'fault: entry 650: covered by no trusted checkpoint',
      ]);
    });

    for (const [what, changes] of [
      ['has the earlier format', { format: 'quita-audit-export/1' }],
      ['has text instead of an account', { account: 'x\nverified: 700 entries' }],
    ] as const)
      it(`rejects a manifest that ${what}`, () => {
        expect(verified({}, changes)).to.deep.equal([
          1,
          'fault: export: manifest.json is not of the format quita-audit-export/2; export again',
        ]);
      });
  });

  it('accepts and refuses the same proofs', () => {
    const root = mkdtempSync(join(tmpdir(), 'quita-proof-'));
    const key = logKeyOf('the log');
    const entry = entryOf(7);
    const proof = (index: number, bytes: Buffer, path = '') =>
      `c2sp.org/tlog-proof@v1\nextra ${bytes.toString('base64')}\nindex ${index}\n${path}\n${noteOf({ size: 1, root: leafHash(entry) }, key)}`;
    const outcomes = (content: string, vkey = key.vkey) => {
      const file = join(root, 'one.tlog-proof');
      writeFileSync(file, content);
      const [node, python] = (['node', 'python'] as const).map((one) =>
        runVerifier(one, ['--proof', file, '--key', vkey]),
      );
      expect([python?.code, python?.lines]).to.deep.equal([node?.code, node?.lines]);
      return node?.code;
    };
    expect(outcomes(proof(0, entry))).to.equal(0);
    expect(outcomes(proof(0, entryOf(8)))).to.equal(1);
    expect(outcomes(proof(1, entry))).to.equal(1);
    expect(outcomes(proof(0, entry, `${leafHash(entry).toString('base64')}\n`))).to.equal(1);
    expect(outcomes(proof(0, entry), logKeyOf('another').vkey)).to.equal(1);
    expect(outcomes('something else')).to.equal(1);
    rmSync(root, { recursive: true });
  });
});
