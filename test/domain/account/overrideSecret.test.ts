// The version of the secret that signs webhooks to payments’ own URLs. Each rotation increments the version of its mode (rule W7).
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { type AccountEvent, account, openAccount, rotateOverrideSecret } from '../../../domain/account/account.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const [ROTATED_AT, LATER] = [at('13:00:00'), at('14:00:00')];
const opening = {
  accountId: ACCOUNT_ID,
  name: 'Loja',
  email: 'loja@example.com',
  idSeed: 'c2VlZA==',
  at: at('12:00:00'),
};
const decided = openAccount(opening, DECLARED_SETTINGS.settings)(account.initial) as {
  events: readonly AccountEvent[];
};
const opened = decided.events[0] as AccountEvent;
const rotated = (mode: 'test' | 'live', version: number, when = ROTATED_AT): AccountEvent => ({
  type: 'AccountOverrideSecretRotated',
  data: { mode, version, at: when },
});
const versions = (...events: AccountEvent[]) => {
  const { state } = given(account, opened, ...events);
  return state.status === 'open' ? state.overrideSecretVersion : null;
};

describe('rotateOverrideSecret (W7)', () => {
  it('records the next version for one mode only and is idempotent', () => {
    given(account, opened)
      .when(rotateOverrideSecret('test', 1, ROTATED_AT))
      .then(rotated('test', 1), 'rotated')
      .again('taken');
    expect([versions(), versions(rotated('test', 1)), versions(rotated('test', 1), rotated('live', 1))]).to.deep.equal([
      { test: 0, live: 0 },
      { test: 1, live: 0 },
      { test: 1, live: 1 },
    ]);
  });
  it('increments the version again at the next rotation', () =>
    void given(account, opened, rotated('test', 1))
      .when(rotateOverrideSecret('test', 2, LATER))
      .then(rotated('test', 2, LATER), 'rotated'));
  it('returns “taken” if another rotation already used the version', () =>
    void given(account, opened, rotated('test', 1), rotated('test', 2))
      .when(rotateOverrideSecret('test', 2, LATER))
      .then('taken'));
  it('throws if the account was never opened', () =>
    void expect(() => rotateOverrideSecret('test', 1, LATER)(account.initial)).to.throw('never opened'));
});
