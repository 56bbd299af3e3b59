// The verifier in Python finds what the one in Node finds. It takes a process per trial.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { leafHash } from '../../application/audit/merkleTree.ts';
import { entryOf, logKeyOf, noteOf } from '../support/audit/syntheticExport.ts';

import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { byFunction, byPython, runVerifier } from '../support/audit/verifiers.ts';

describe('docs/auditors/verify.py', () => {
  it('finds what was changed, removed, swapped, added or rewritten, and names the place', async () => {
    await expectTamperingsFound([byFunction, byPython], 42);
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
