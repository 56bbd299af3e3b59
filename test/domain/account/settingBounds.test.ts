// Bounds of an account’s settings, and which rate limit applies (rules E6, E8, M2, M7a, X3).

import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { type AccountEvent, type AccountSettings, account, type OpenAccount } from '../../../domain/account/account.ts';
import { requestsPerMinute, sandboxRequestsPerMinute } from '../../../domain/account/rateLimits.ts';
import { changeSettings, type SettingsChange } from '../../../domain/account/settings.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { refundVelocity } from '../../../domain/refund/settings.ts';
import type { FeePair } from '../../../domain/transaction/fees.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at, SETTINGS } from '../../support/samples.ts';
import { SERDE } from '../../support/serde.ts';

const NOW = at('13:00:00');
const opened: AccountEvent = {
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
const fee = (percentBps: number, fixed: number) => ({ percentBps, fixed: toMinor(fixed) });
const feesWith = (change: SettingsChange['fees'] = {}): AccountSettings['fees'] => {
  const fees = { ...SETTINGS.fees };
  for (const [method, sides] of Object.entries(change) as [PaymentMethod, Partial<FeePair>][])
    fees[method] = { ...fees[method], ...sides };
  return fees;
};
const keys = (count: number) => Array.from({ length: count }, (_, i) => `loja${i}@example.com`);

describe('bounds of settings', () => {
  const GOOD: readonly SettingsChange[] = [
    { velocity: { customerPerHour: 1, accountPerHour: 1_000_000 } },
    { rateLimitPerMinute: 0 },
    { rateLimitPerMinute: 1_000_000_000 },
    { holdDays: { PIX: 365 } },
    { chargeWindowSeconds: 60 },
    { chargeWindowSeconds: 86_400 },
    { cashoutDestinations: keys(300) },
    { fees: { PIX: { provider: fee(0, 0), platform: fee(10_000, 10_000_000) } } },
    { fees: { CRYPTO: { platform: fee(0, 1) } } },
    { merchantName: 'M' },
    { merchantName: 'Padaria São João 🥐'.padEnd(200, '.') },
    { taxId: '99991111140' },
    { taxId: '12ABC34501DE35' },
    { receiverName: 'São João Pães & Cia. Ltda' },
    { receiverCity: 'S. José R Preto' },
    { receiverName: 'a\u0301'.repeat(25) },
    { color: '#000000' },
    { color: '#1a7f5c' },
    { refundVelocity: { countPerHour: 0 } },
    { refundVelocity: { countPerHour: 1_000_000, sumPerHour: toMinor(99_999_999_999) } },
  ];
  const BAD: readonly (readonly [string, SettingsChange])[] = [
    ['velocity.customerPerHour', { velocity: { customerPerHour: 0 } }],
    ['velocity.customerPerHour', { velocity: { customerPerHour: 1.5 } }],
    ['velocity.customerPerHour', { velocity: { customerPerHour: 100_001 } }],
    ['velocity.accountPerHour', { velocity: { accountPerHour: 1_000_001 } }],
    ['rateLimitPerMinute', { rateLimitPerMinute: -1 }],
    ['rateLimitPerMinute', { rateLimitPerMinute: 1_000_000_001 }],
    ['holdDays.BOLETO', { holdDays: { PIX: 0, BOLETO: -1 } }],
    ['holdDays.PIX', { holdDays: { PIX: 366 } }],
    ['chargeWindowSeconds', { chargeWindowSeconds: 59 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: 86_401 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: Number.NaN }],
    ['cashoutDestinations', { cashoutDestinations: keys(301) }],
    ['fees.PIX.provider.percentBps', { fees: { PIX: { provider: fee(10_001, 0) } } }],
    ['fees.PIX.provider.percentBps', { fees: { PIX: { provider: fee(0.5, 0) } } }],
    ['fees.BOLETO.platform.percentBps', { fees: { BOLETO: { platform: fee(-1, 0) } } }],
    ['fees.BOLETO.platform.fixed', { fees: { BOLETO: { platform: fee(0, 10_000_001) } } }],
    ['fees.MBWAY.provider.fixed', { fees: { MBWAY: { provider: fee(0, -1) } } }],
    ['merchantName', { merchantName: '' }],
    ['merchantName', { merchantName: 'x'.repeat(201) }],
    ['merchantName', { merchantName: ' Loja' }],
    ['merchantName', { merchantName: 'Loja\nde Teste' }],
    ['merchantName', { merchantName: 'Loja \u202eetseT' }],
    ['merchantName', { merchantName: 'Loja \ud800' }],
    ['taxId', { taxId: '99991111141' }],
    ['taxId', { taxId: '' }],
    ['receiverName', { receiverName: 'x'.repeat(26) }],
    ['receiverName', { receiverName: '株式会社' }],
    ['receiverName', { receiverName: `Loja${'é'.repeat(200)}` }],
    ['receiverCity', { receiverCity: 'São José do Rio Preto' }],
    ['receiverCity', { receiverCity: '' }],
    ['color', { color: '#1A7F5C' }],
    ['color', { color: '#fff' }],
    ['color', { color: 'red' }],
    ['refundVelocity.countPerHour', { refundVelocity: { countPerHour: -1 } }],
    ['refundVelocity.countPerHour', { refundVelocity: { countPerHour: 1_000_001 } }],
    ['refundVelocity.sumPerHour', { refundVelocity: { sumPerHour: toMinor(100_000_000_000) } }],
    ['cashoutDestinations', { cashoutDestinations: ['99991111140', '999.911.111-40'] }],
  ];
  for (const change of GOOD)
    it(`accepts ${JSON.stringify(change).slice(0, 60)}`, () => {
      const settings = {
        ...SETTINGS,
        ...change,
        velocity: { ...SETTINGS.velocity, ...change.velocity },
        refundVelocity: refundVelocity.after(SETTINGS, change['refundVelocity'] ?? {}),
        holdDays: { ...SETTINGS.holdDays, ...change.holdDays },
        fees: feesWith(change.fees),
      };
      given(account, opened)
        .when(changeSettings(change, NOW, DECLARED_SETTINGS.settings))
        .then({ type: 'AccountSettingsChanged', data: { settings, at: NOW } }, settings)
        .again(settings);
    });
  for (const [param, change] of BAD)
    it(`rejects ${JSON.stringify(change).slice(0, 60)}`, () =>
      given(account, opened)
        .when(changeSettings(change, NOW, DECLARED_SETTINGS.settings))
        .rejected('invalid_request', param));

  it('keep the event of the largest possible settings between 25 and 32 kB', () => {
    const change: SettingsChange = {
      merchantName: '王'.repeat(200),
      taxId: '12ABC34501DE35',
      receiverName: `${'王'.repeat(199)}x`,
      receiverCity: `${'王'.repeat(199)}x`,
      cashoutDestinations: Array.from({ length: 300 }, (_, i) => `${String(i).padEnd(73, 'a')}@b.c`),
      logo: '0'.repeat(64),
    };
    const decided = changeSettings(change, NOW, DECLARED_SETTINGS.settings)(given(account, opened).state);
    if (isRejection(decided)) throw new Error(decided.message);
    const { data } = SERDE.account.encode(decided.events[0] as AccountEvent);
    expect(Buffer.byteLength(JSON.stringify(data))).to.be.within(25_000, 32_000);
  });

  it('ignore the order of the fields in a change', () => {
    const { provider, platform } = SETTINGS.fees.PIX;
    const same: SettingsChange = {
      fees: { PIX: { platform: { fixed: platform.fixed, percentBps: platform.percentBps }, provider } },
    };
    given(account, opened)
      .when(changeSettings(same, NOW, DECLARED_SETTINGS.settings))
      .then(SETTINGS);
  });
});

describe('requests per minute (E8)', () => {
  const limits = (deployments: number, ofAccount: number | null, ofSandbox: number | null) => {
    const { state } = given(account, opened);
    const { settings, sandbox } = state as OpenAccount;
    const own = {
      settings: { ...settings, rateLimitPerMinute: ofAccount },
      sandbox: { ...sandbox, rateLimitPerMinute: ofSandbox },
    };
    return [requestsPerMinute(own, deployments), sandboxRequestsPerMinute(own, deployments)];
  };
  /** The last two columns are the limits of live and of test keys. `0` means unlimited, `null` means not set. */
  const rows: readonly (readonly [
    deployments: number,
    account: number | null,
    sandbox: number | null,
    number,
    number,
  ])[] = [
    [600, null, null, 600, 600],
    [600, null, 7, 600, 7],
    [600, null, 601, 600, 600],
    [600, null, 0, 600, 600],
    [600, 5, null, 5, 5],
    [600, 5, 0, 5, 5],
    [600, 5, 4, 5, 4],
    [600, 5, 7, 5, 5],
    [600, 900, 700, 900, 700],
    [600, 0, 7, 0, 7],
    [600, 0, 0, 0, 0],
    [0, null, null, 0, 0],
    [0, null, 7, 0, 7],
    [0, 5, 7, 5, 5],
  ];
  for (const [deployments, account, sandbox, live, test] of rows)
    it(`with deployment ${deployments}, account ${account}, sandbox ${sandbox} are ${live} live and ${test} test`, () =>
      expect(limits(deployments, account, sandbox)).to.deep.equal([live, test]));
});
