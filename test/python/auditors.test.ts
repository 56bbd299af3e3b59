// The verifier in Python finds what the one in Node finds. It takes a process per trial.

import { expectTamperingsFound } from '../support/audit/tamperingTrial.ts';
import { byFunction, byPython } from '../support/audit/verifiers.ts';

describe('docs/auditors/verify.py', () => {
  it('finds what was changed, removed, swapped, added or rewritten, and names the place', async () => {
    await expectTamperingsFound([byFunction, byPython], 42);
  });
});
