import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import {
  type AccountEvent,
  account,
  openAccount,
  reopenAccount,
  suspendAccount,
} from '../../../domain/account/account.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const [SUSPENDED_AT, LATER] = [at('13:00:00'), at('14:00:00')];
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
const suspended = (when = SUSPENDED_AT): AccountEvent => ({ type: 'AccountSuspended', data: { at: when } });
const reopened = (when = LATER): AccountEvent => ({ type: 'AccountReopened', data: { at: when } });
const since = (...events: AccountEvent[]) => {
  const { state } = given(account, ...events);
  return state.status === 'open' ? state.suspendedAt : 'absent';
};

describe('suspendAccount', () => {
  it('suspends the account and is idempotent', () =>
    given(account, opened)
      .when(suspendAccount(SUSPENDED_AT))
      .then(suspended(), { since: SUSPENDED_AT })
      .again({ since: SUSPENDED_AT }));
  it('returns the original suspension time when repeated later', () => {
    given(account, opened, suspended()).when(suspendAccount(LATER)).then({ since: SUSPENDED_AT });
  });
  it('rejects an unknown account with not_found', () =>
    given(account).when(suspendAccount(SUSPENDED_AT)).rejected('not_found'));
});

describe('reopenAccount', () => {
  it('reopens a suspended account and is idempotent', () =>
    given(account, opened, suspended()).when(reopenAccount(LATER)).then(reopened(), 'reopened').again('already_open'));
  it('does nothing if the account is not suspended', () =>
    void given(account, opened).when(reopenAccount(LATER)).then('already_open'));
  it('rejects an unknown account with not_found', () =>
    given(account).when(reopenAccount(LATER)).rejected('not_found'));
});

describe('the state of a suspension', () => {
  it('lasts until the account is reopened and ignores accounts that were never opened', () => {
    expect([since(opened), since(opened, suspended()), since(opened, suspended(), reopened())]).to.deep.equal([
      null,
      SUSPENDED_AT,
      null,
    ]);
    expect([since(suspended()), since(reopened())]).to.deep.equal(['absent', 'absent']);
  });
});
