import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import {
  type AccountEvent,
  account,
  accountTime,
  actingTime,
  advanceTestClock,
  defaultSettings,
  leftAt,
  type OpenAccount,
  openAccount,
  TEST_CLOCK_OFFSET_SECONDS_MAX,
} from '../../../domain/account/account.ts';
import { allowedDestinations } from '../../../domain/account/cashoutDestinations.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { addSeconds, toMillis } from '../../../domain/kernel/time.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

const opening = {
  accountId: ACCOUNT_ID,
  name: 'Loja',
  email: 'loja@example.com',
  idSeed: 'c2VlZA==',
  at: at('12:00:00'),
};
const fee = (percentBps: number, fixed: number) => ({ percentBps, fixed: toMinor(fixed) });
const others = { provider: fee(150, 0), platform: fee(100, 0) };
/** The defaults that M1 and M2 promise a new account, spelled out independently of the code. */
const settings = {
  fees: {
    PIX: { provider: fee(0, 10), platform: fee(100, 0) },
    CREDIT_CARD: { provider: fee(250, 30), platform: fee(100, 0) },
    MBWAY: others,
    MULTIBANCO: others,
    BOLETO: others,
    CRYPTO: others,
  },
  holdDays: { PIX: 0, CREDIT_CARD: 2, MBWAY: 1, MULTIBANCO: 1, BOLETO: 1, CRYPTO: 1 },
  chargeWindowSeconds: 3600,
  merchantName: 'Loja',
  taxId: null,
  receiverName: 'Loja',
  receiverCity: 'SAO PAULO',
  logo: null,
  color: null,
  velocity: { customerPerHour: 20, accountPerHour: 1_000 },
  refundVelocity: { countPerHour: null, sumPerHour: null },
  payoutCount: null,
  payoutSum: null,
  payoutApprovalAbove: null,
  rateLimitPerMinute: null,
  cashoutDestinations: [],
  disputeNotifications: true,
};
const opened: AccountEvent = { type: 'AccountOpened', data: { ...opening, settings } };
const advanced = (seconds: number, from: string, to: string): AccountEvent => ({
  type: 'AccountTestClockAdvanced',
  data: { seconds, from: at(from), to: at(to) },
});
const open = (...events: AccountEvent[]): OpenAccount => given(account, opened, ...events).state as OpenAccount;

describe('allowed payout destinations (M7a)', () => {
  for (const [keys, test, live] of [
    [[], null, []],
    [['99991111140'], ['99991111140'], ['99991111140']],
    [null, null, null],
  ] as const)
    it(`for ${JSON.stringify(keys)} returns ${JSON.stringify(test)} in test mode and ${JSON.stringify(live)} in live mode`, () => {
      expect(allowedDestinations({ cashoutDestinations: keys }, 'test')).to.deep.equal(test);
      expect(allowedDestinations({ cashoutDestinations: keys }, 'live')).to.deep.equal(live);
    });
});

describe('openAccount', () => {
  it('opens the account with the default settings and is idempotent', () => {
    given(account).when(openAccount(opening, DECLARED_SETTINGS.settings)).then(opened, 'opened').again('already_open');
  });
  it('derives a receiver name that a Pix code can hold from a long or foreign name', () => {
    const namesOf = (name: string) => {
      const { merchantName, receiverName } = defaultSettings(name, DECLARED_SETTINGS.settings);
      return [merchantName, receiverName];
    };
    const long = 'Padaria e Confeitaria São João Ltda.';
    expect(namesOf(long)).to.deep.equal([long, 'Padaria e Confeitaria Sao']);
    expect(namesOf('株式会社')).to.deep.equal(['株式会社', 'N']);
  });
  it('keeps the original seed and settings when repeated with other content', () => {
    const other = { ...opening, name: 'Outra', idSeed: 'b3RoZXI=', at: at('13:00:00') };
    given(account, opened).when(openAccount(other, DECLARED_SETTINGS.settings)).then('already_open');
  });
});

describe('advanceTestClock', () => {
  it('advances account time from its current value', () => {
    given(account, opened)
      .when(advanceTestClock(600, at('13:00:00')))
      .then(advanced(600, '13:00:00', '13:10:00'), { now: at('13:10:00'), offsetSeconds: 600 })
      .and()
      .when(advanceTestClock(60, at('13:00:30')))
      .then(advanced(60, '13:10:30', '13:11:30'), { now: at('13:11:30'), offsetSeconds: 660 });
  });
  it('advances the clock again when repeated', () => {
    given(account, opened, advanced(600, '13:00:00', '13:10:00'))
      .when(advanceTestClock(600, at('13:00:00')))
      .then(advanced(600, '13:10:00', '13:20:00'), { now: at('13:20:00'), offsetSeconds: 1200 });
  });
  it('rejects an offset of more than 100 years', () => {
    const real = at('13:00:00');
    const to = addSeconds(real, TEST_CLOCK_OFFSET_SECONDS_MAX);
    const farthest: AccountEvent = {
      type: 'AccountTestClockAdvanced',
      data: { seconds: TEST_CLOCK_OFFSET_SECONDS_MAX, from: real, to },
    };
    given(account, opened)
      .when(advanceTestClock(TEST_CLOCK_OFFSET_SECONDS_MAX, real))
      .then(farthest, { now: to, offsetSeconds: 3_162_240_000 });
    given(account, opened, farthest).when(advanceTestClock(1, real)).rejected('invalid_request', 'seconds');
  });
  it('throws if the account was never opened', () => {
    given(account)
      .when(advanceTestClock(1, at('13:00:00')))
      .throws(/never opened/);
  });
});

describe('account time', () => {
  const nowMs = toMillis(at('13:30:00'));
  const jumped = open(advanced(600, '13:00:00', '13:10:00'), advanced(3600, '13:20:00', '14:20:00'));

  it('equals real time before the first advance, and always in live mode', () => {
    expect(accountTime(open(), 'test', nowMs)).to.equal('2026-11-21T13:30:00.000Z');
    expect(accountTime(jumped, 'live', nowMs)).to.equal('2026-11-21T13:30:00.000Z');
  });
  it('runs ahead of real time by the sum of all advances in test mode', () => {
    expect(accountTime(jumped, 'test', nowMs + 7)).to.equal('2026-11-21T14:40:00.007Z');
  });

  const acting = (mode: 'test' | 'live', dueAt: string) => actingTime(jumped, mode, at(dueAt), nowMs);
  it('lets work that fell due during a jump act at its due time (X5)', () => {
    expect(acting('test', '13:00:01')).to.equal(at('13:00:01'));
    expect(acting('test', '13:10:00')).to.equal(at('13:10:00'));
    expect(acting('test', '14:20:00')).to.equal(at('14:20:00'));
  });
  it('lets work due before, between or after jumps act now', () => {
    expect(acting('test', '13:00:00')).to.equal(at('14:40:00'));
    expect(acting('test', '13:15:00')).to.equal(at('14:40:00'));
    expect(acting('test', '13:20:00')).to.equal(at('14:40:00'));
    expect(acting('test', '14:30:00')).to.equal(at('14:40:00'));
  });
  it('lets work that was under way before a jump end at the instant at which the clock left (X5)', () => {
    const left = (dueAt: string) => leftAt(jumped, 'test', at(dueAt));
    expect(['12:59:00', '13:00:00'].map(left)).to.deep.equal([at('13:00:00'), at('13:00:00')]);
    expect(['13:10:01', '13:20:00'].map(left)).to.deep.equal([at('13:20:00'), at('13:20:00')]);
    expect(['13:00:01', '13:10:00', '14:20:00', '14:20:01'].map(left)).to.deep.equal([null, null, null, null]);
  });
  it('ignores jumps in live mode', () => {
    expect(acting('live', '13:05:00')).to.equal(parseTimestamp('2026-11-21T13:30:00.000Z'));
    expect(leftAt(jumped, 'live', at('12:59:00'))).to.equal(null);
  });
});
