// The stand-alone verifier in Node finds every change of an audit export. test/python runs the one in Python (rule U8).

import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { byFunction } from '../support/audit/verifiers.ts';

describe('docs/auditors', () => {
  it('finds what was changed, removed, swapped, added or rewritten, and names the place', async () => {
    await expectTamperingsFound([byFunction], 28);
  });
});
