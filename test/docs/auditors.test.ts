// The standalone verifier for Node detects every change of an audit export. test/python runs the Python version (rule U8).

import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { byFunction } from '../support/audit/verifiers.ts';

describe('docs/auditors', () => {
  it('reports what was changed, removed, swapped, added or rewritten, with its position', async () => {
    await expectTamperingsFound([byFunction], 28);
  });
});
