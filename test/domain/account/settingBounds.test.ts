// Bounds of what an account may agree, and whose rate limit counts (rules E6, E8, M2, M7a, X3).
import { expect } from 'chai';
import { type AccountEvent, account, type OpenAccount } from '../../../domain/account/account.ts';
import {
  changeSettings,
  requestsPerMinute,
  type SettingsChange,
  sandboxRequestsPerMinute,
} from '../../../domain/account/settings.ts';
import { given } from '../../support/given.ts';
import { ACCOUNT_ID, at, SETTINGS } from '../../support/samples.ts';

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
const keys = (count: number) => Array.from({ length: count }, (_, i) => `loja${i}@example.com`);

describe('bounds of settings', () => {
  const GOOD: readonly SettingsChange[] = [
    { velocity: { customerPerHour: 1, accountPerHour: 100_000 } },
    { rateLimitPerMinute: 0 },
    { rateLimitPerMinute: 1_000_000_000 },
    { holdDays: { PIX: 365 } },
    { chargeWindowSeconds: 60 },
    { chargeWindowSeconds: 86_400 },
    { cashoutDestinations: keys(1_000) },
  ];
  const BAD: readonly (readonly [string, SettingsChange])[] = [
    ['velocity.customerPerHour', { velocity: { customerPerHour: 0 } }],
    ['velocity.customerPerHour', { velocity: { customerPerHour: 1.5 } }],
    ['velocity.accountPerHour', { velocity: { accountPerHour: 100_001 } }],
    ['rateLimitPerMinute', { rateLimitPerMinute: -1 }],
    ['rateLimitPerMinute', { rateLimitPerMinute: 1_000_000_001 }],
    ['holdDays.BOLETO', { holdDays: { PIX: 0, BOLETO: -1 } }],
    ['holdDays.PIX', { holdDays: { PIX: 366 } }],
    ['chargeWindowSeconds', { chargeWindowSeconds: 59 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: 86_401 }],
    ['chargeWindowSeconds', { chargeWindowSeconds: Number.NaN }],
    ['cashoutDestinations', { cashoutDestinations: keys(1_001) }],
    ['cashoutDestinations', { cashoutDestinations: ['99991111140', '999.911.111-40'] }],
  ];
  for (const change of GOOD)
    it(`${JSON.stringify(change).slice(0, 60)} is taken`, () => {
      const settings = {
        ...SETTINGS,
        ...change,
        velocity: { ...SETTINGS.velocity, ...change.velocity },
        holdDays: { ...SETTINGS.holdDays, ...change.holdDays },
      };
      given(account, opened)
        .when(changeSettings(change, NOW))
        .then({ type: 'AccountSettingsChanged', data: { settings, at: NOW } }, settings)
        .again(settings);
    });
  for (const [param, change] of BAD)
    it(`${JSON.stringify(change).slice(0, 60)} is refused`, () =>
      given(account, opened).when(changeSettings(change, NOW)).rejected('invalid_request', param));
});

describe('requests a minute (E8)', () => {
  const limits = (deployments: number, ofAccount: number | null, ofSandbox: number | null) => {
    const { state } = given(account, opened);
    const { settings, sandbox } = state as OpenAccount;
    const own = {
      settings: { ...settings, rateLimitPerMinute: ofAccount },
      sandbox: { ...sandbox, rateLimitPerMinute: ofSandbox },
    };
    return [requestsPerMinute(own, deployments), sandboxRequestsPerMinute(own, deployments)];
  };
  /** Of live and of test keys; `0`: any number, `null`: not set. */
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
    it(`deployment ${deployments}, account ${account}, sandbox ${sandbox}: ${live} live, ${test} test`, () =>
      expect(limits(deployments, account, sandbox)).to.deep.equal([live, test]));
});
