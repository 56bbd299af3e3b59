// The version of the secret that signs what goes to payments' own URLs: one per mode, each rotation the next (rule W7).
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
  it('is the next version, once; the other mode keeps its own', () => {
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
  it('again is the version after', () =>
    void given(account, opened, rotated('test', 1))
      .when(rotateOverrideSecret('test', 2, LATER))
      .then(rotated('test', 2, LATER), 'rotated'));
  it('that another rotation was faster than is taken', () =>
    void given(account, opened, rotated('test', 1), rotated('test', 2))
      .when(rotateOverrideSecret('test', 2, LATER))
      .then('taken'));
  it('of an account that was never opened is a broken invariant', () =>
    void expect(() => rotateOverrideSecret('test', 1, LATER)(account.initial)).to.throw('never opened'));
});
