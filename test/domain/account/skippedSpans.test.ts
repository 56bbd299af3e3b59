// The test clock keeps only its latest jumps, so that an account with many of them stays small.
import { expect } from 'chai';
import {
  type AccountEvent,
  account,
  actingTime,
  defaultSettings,
  type OpenAccount,
} from '../../../domain/account/account.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { addSeconds, toMillis } from '../../../domain/kernel/time.ts';
import { CREATED_AT } from '../../support/samples.ts';

const ADVANCES = 1_500;
const jumps: readonly AccountEvent[] = Array.from({ length: ADVANCES }, (_, n) => ({
  type: 'AccountTestClockAdvanced',
  data: { seconds: 60, from: addSeconds(CREATED_AT, n * 60), to: addSeconds(CREATED_AT, n * 60 + 60) },
}));

const opening = { accountId: 'a' as AccountId, name: 'Loja', email: 'a@b.example', idSeed: '', at: CREATED_AT };
const openedAccount: AccountEvent = {
  type: 'AccountOpened',
  data: { ...opening, settings: defaultSettings('Loja', []) },
};

describe('the jumps of a test clock', () => {
  const state = fold(account, [openedAccount, ...jumps]) as OpenAccount;
  const actsAt = (second: number) => actingTime(state, 'test', addSeconds(CREATED_AT, second), toMillis(CREATED_AT));
  const now = addSeconds(CREATED_AT, ADVANCES * 60);

  it('all move the clock, but only the last 1,000 let work act at its due time', () => {
    expect(state.testClock.offsetSeconds).to.equal(ADVANCES * 60);
    expect(state.testClock.skipped.length).to.equal(1_000);
    expect(actsAt(ADVANCES * 60)).to.equal(now);
    expect(actsAt(500 * 60 + 1)).to.equal(addSeconds(CREATED_AT, 500 * 60 + 1));
    expect(actsAt(500 * 60)).to.equal(now);
  });
});
