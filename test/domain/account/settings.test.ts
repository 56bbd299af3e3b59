import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import {
  type AccountEvent,
  type AccountSettings,
  account,
  type OpenAccount,
  type SandboxSettings,
} from '../../../domain/account/account.ts';
import { changeSandboxSettings, changeSettings, type SettingsChange } from '../../../domain/account/settings.ts';
import { completed } from '../../../domain/kernel/accountSetting.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at, SETTINGS } from '../../support/samples.ts';
import { SERDE } from '../../support/serde.ts';

const opened: Extract<AccountEvent, { type: 'AccountOpened' }> = {
  type: 'AccountOpened',
  data: {
    accountId: ACCOUNT_ID,
    name: 'Loja',
    email: 'loja@example.com',
    idSeed: 'c2VlZA==',
    settings: SETTINGS,
    at: at('12:00:00'),
  },
};
const NOW = at('13:00:00');
const LATER = at('14:00:00');

describe('changeSettings', () => {
  const changed = (settings: AccountSettings, when = NOW): AccountEvent => ({
    type: 'AccountSettingsChanged',
    data: { settings, at: when },
  });
  const twoDays = { ...SETTINGS, holdDays: { ...SETTINGS.holdDays, PIX: 2 } };
  const CHANGES: readonly Partial<AccountSettings>[] = [
    { holdDays: twoDays.holdDays },
    { velocity: { customerPerHour: 5, accountPerHour: 50 } },
    { rateLimitPerMinute: 0 },
    {
      fees: {
        ...SETTINGS.fees,
        PIX: { provider: SETTINGS.fees.PIX.provider, platform: SETTINGS.fees.BOLETO.provider },
      },
    },
    { merchantName: 'Padaria São João' },
    { taxId: '99991111140' },
    { receiverName: 'PADARIA SAO JOAO', receiverCity: 'RECIFE' },
    { color: '#1a7f5c' },
    { logo: 'a'.repeat(64) },
    { refundVelocity: { countPerHour: 10, sumPerHour: toMinor(500_000) } },
    { cashoutDestinations: [] },
    { cashoutDestinations: ['99991111140'], chargeWindowSeconds: 600 },
  ];
  for (const change of CHANGES)
    it(`changes only ${Object.keys(change).join(', ')} and is idempotent`, () => {
      const settings = { ...SETTINGS, ...change };
      given(account, opened)
        .when(changeSettings(change, NOW, DECLARED_SETTINGS.settings))
        .then(changed(settings), settings)
        .again(settings);
    });
  it('records nothing if no value changes', () => {
    given(account, opened)
      .when(changeSettings({}, NOW, DECLARED_SETTINGS.settings))
      .then(SETTINGS);
    given(account, opened)
      .when(changeSettings(SETTINGS, NOW, DECLARED_SETTINGS.settings))
      .then(SETTINGS);
    given(account, opened)
      .when(changeSettings({ velocity: { ...SETTINGS.velocity } }, NOW, DECLARED_SETTINGS.settings))
      .then(SETTINGS);
  });
  it('applies a second change on top of the first', () => {
    const both = { ...twoDays, rateLimitPerMinute: 10 };
    given(account, opened, changed(twoDays))
      .when(changeSettings({ rateLimitPerMinute: 10 }, LATER, DECLARED_SETTINGS.settings))
      .then(changed(both, LATER), both)
      .again(both);
  });
  it('records a second event when a change is reverted', () => {
    given(account, opened, changed(twoDays))
      .when(changeSettings({ holdDays: SETTINGS.holdDays }, LATER, DECLARED_SETTINGS.settings))
      .then(changed(SETTINGS, LATER), SETTINGS);
  });
  it('throws if the account was never opened', () =>
    given(account)
      .when(changeSettings({}, NOW, DECLARED_SETTINGS.settings))
      .throws(/never opened/));
});

describe('changeSandboxSettings (X3)', () => {
  const USUAL: SandboxSettings = {
    autoConfirmRefunds: true,
    autoConfirmPayouts: true,
    payoutApproval: null,
    rateLimitPerMinute: null,
    disputeNotifications: true,
  };
  /** The events omit `autoConfirmPayouts` when it is true. */
  const changed = ({ autoConfirmPayouts, ...said }: SandboxSettings, when = NOW): AccountEvent => ({
    type: 'AccountSandboxSettingsChanged',
    data: { sandbox: autoConfirmPayouts === false ? { ...said, autoConfirmPayouts } : said, at: when },
  });
  it('starts with refunds confirmed, no rate limit of its own, and dispute notifications on', () => {
    const { sandbox } = given(account, opened).state as OpenAccount;
    expect(completed(sandbox, DECLARED_SETTINGS.switches)).to.deep.equal(USUAL);
  });
  for (const change of [
    { autoConfirmRefunds: false },
    { autoConfirmPayouts: false },
    { payoutApproval: { above: null } },
    { payoutApproval: { above: toMinor(100) } },
    { rateLimitPerMinute: 0 },
    { disputeNotifications: false },
  ])
    it(`changes only ${Object.keys(change).join()} and is idempotent`, () => {
      const sandbox = { ...USUAL, ...change };
      given(account, opened)
        .when(changeSandboxSettings(change, NOW, DECLARED_SETTINGS.switches))
        .then(changed(sandbox), sandbox)
        .again(sandbox);
    });
  it('records nothing if no value changes', () => {
    given(account, opened)
      .when(changeSandboxSettings(USUAL, NOW, DECLARED_SETTINGS.switches))
      .then(USUAL);
  });
  it('applies a second change on top of the first and keeps the account’s settings', () => {
    const manual = { ...USUAL, autoConfirmRefunds: false };
    const both = { ...manual, rateLimitPerMinute: 30 };
    const { state } = given(account, opened, changed(manual))
      .when(changeSandboxSettings({ rateLimitPerMinute: 30 }, LATER, DECLARED_SETTINGS.switches))
      .then(changed(both, LATER), both)
      .again(both)
      .and();
    expect((state as OpenAccount).settings).to.deep.equal(SETTINGS);
  });
  it('throws if the account was never opened', () =>
    given(account)
      .when(changeSandboxSettings({}, NOW, DECLARED_SETTINGS.switches))
      .throws(/never opened/));
});

describe('a settings event', () => {
  const NAMES = Object.keys(SETTINGS);
  const written = (decision: ReturnType<typeof changeSettings>, ...before: AccountEvent[]) => {
    const decided = decision(given(account, ...before).state);
    if (isRejection(decided)) throw new Error(decided.message);
    const { data } = SERDE.account.encode(decided.events[0] as AccountEvent);
    return data as { readonly settings: Readonly<Record<string, unknown>> };
  };
  const change = (wish: SettingsChange) => changeSettings(wish, NOW, DECLARED_SETTINGS.settings);

  it('holds every setting, in the order in which capabilities are listed', () => {
    const { settings } = written(change({ color: '#000000' }), opened);
    expect(Object.keys(settings)).to.deep.equal(NAMES);
    expect(NAMES.slice(10)).to.deep.equal([
      'refundVelocity',
      'payoutCount',
      'payoutSum',
      'payoutApprovalAbove',
      'rateLimitPerMinute',
      'cashoutDestinations',
      'disputeNotifications',
    ]);
  });
  it('adds settings newer than the account and keeps those of a removed capability', () => {
    const { payoutCount: _, ...older } = SETTINGS;
    const old: AccountEvent = { ...opened, data: { ...opened.data, settings: { ...older, formerLimit: 7 } } };
    const { settings } = written(change({ payoutSum: 5 }), old);
    expect(Object.keys(settings)).to.deep.equal([...NAMES, 'formerLimit']);
    expect(settings).to.deep.equal({ ...SETTINGS, payoutSum: 5, formerLimit: 7 });
    given(account, old)
      .when(change({ payoutCount: null }))
      .then({ ...SETTINGS, formerLimit: 7 });
  });
});
