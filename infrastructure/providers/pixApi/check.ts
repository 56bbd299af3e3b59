// The steps of `provider check`: token, scopes, clock, certificate, and a charge of one centavo.

import type { InstrumentRequest } from '../../../application/ports/paymentProvider.ts';
import type { CheckStep } from '../../../application/ports/providerConnections.ts';
import { type AccountId, encodeRawId, type PaymentId, PLATFORM_ACCOUNT } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { addSeconds, DAY_MS, fromMillis, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { systemRandomness } from '../../system/system.ts';
import type { Charges, Connection } from './charges.ts';
import type { PixApiNeeds } from './needs.ts';
import type { Tokens } from './token.ts';

interface Checked {
  readonly connection: Connection;
  readonly tokens: Tokens;
  readonly charges: Charges;
  readonly certificateExpiresAt: Timestamp | null;
  readonly clock: PixApiNeeds['clock'];
}

const SKEW_MAX_MS = 60_000;
const LIFETIME_S = 300;
const CENTAVO = toMinor(1);
const CERTIFICATE_WARNING_MS = 30 * DAY_MS;
const ID_BYTES = 16;

const step = (name: string, isOk: boolean, detail: string): CheckStep => ({ name, isOk, detail });

export async function* checkConnection(checked: Checked): AsyncGenerator<CheckStep> {
  yield certificateStep(checked);
  const token = await checked.tokens.get(checked.connection.preset.scopes.collect);
  if (token.kind === 'noToken') {
    yield step('token', false, `The institution gave no token: ${token.why}`);
    return;
  }
  // Read together with the token: further tokens may take long.
  const now = checked.clock.now();
  yield step('token', true, 'The institution gave a token.');
  yield await scopesStep(checked);
  yield clockStep(token.serverTime, now);
  yield await chargeStep(checked);
}

const certificateStep = ({ connection, certificateExpiresAt, clock }: Checked): CheckStep => {
  if (certificateExpiresAt === null)
    return step('certificate', connection.terms.certificate === null, 'The connection has no client certificate.');
  const leftMs = toMillis(certificateExpiresAt) - clock.now();
  const until = `The client certificate is valid until ${certificateExpiresAt}.`;
  if (leftMs <= 0) return step('certificate', false, `The client certificate expired at ${certificateExpiresAt}.`);
  return leftMs < CERTIFICATE_WARNING_MS
    ? step('certificate', true, `${until} It expires within 30 days: replace it soon.`)
    : step('certificate', true, until);
};

const scopesStep = async ({ tokens, connection: { preset } }: Checked): Promise<CheckStep> => {
  const { scopes, neededScopes, payout } = preset;
  const uses = [
    { requested: scopes.collect, needed: neededScopes.collect },
    { requested: scopes.webhook, needed: neededScopes.webhook },
    ...(payout === null ? [] : [{ requested: payout.scopes, needed: payout.neededScopes }]),
  ];
  const missing: string[] = [];
  for (const { requested, needed } of uses) {
    const token = await tokens.get(requested);
    const granted = token.kind === 'noToken' ? [] : token.granted;
    if (granted === null) return step('scopes', true, 'The institution does not say which scopes it granted.');
    missing.push(...needed.filter((scope) => !granted.includes(scope)));
  }
  return missing.length === 0
    ? step('scopes', true, 'All needed scopes are granted.')
    : step('scopes', false, `These scopes are missing: ${missing.join(' ')}.`);
};

const clockStep = (serverTime: number | null, now: number): CheckStep => {
  if (serverTime === null) return step('clock', true, 'The institution does not state its time.');
  const seconds = Math.round((serverTime - now) / 1_000);
  return step('clock', Math.abs(serverTime - now) <= SKEW_MAX_MS, `The institution's clock differs by ${seconds} s.`);
};

const chargeStep = async ({ connection, charges, clock }: Checked): Promise<CheckStep> => {
  const now = fromMillis(clock.now());
  const id = encodeRawId(systemRandomness.bytes(ID_BYTES));
  const request: InstrumentRequest = {
    accountId: (connection.terms.accountId ?? PLATFORM_ACCOUNT) as AccountId,
    mode: 'live',
    txid: id,
    method: 'PIX',
    paymentId: id as PaymentId,
    amount: CENTAVO,
    currency: 'BRL',
    createdAt: now,
    expiresAt: addSeconds(now, LIFETIME_S),
    lifetimeSeconds: LIFETIME_S,
    debtor: null,
    note: null,
    sandbox: null,
  };
  const created = await charges.issue(request);
  if (created.kind === 'refused')
    return step('charge', false, `The institution refused a charge of one centavo: ${created.reason}`);
  const found = await charges.find(request);
  const isFound = found.kind === 'known' && found.value !== null;
  const cancelled = await charges.cancel(request);
  if (created.kind !== 'issued') return step('charge', false, `Creating a charge of one centavo: ${created.kind}.`);
  if (!isFound) return step('charge', false, 'The charge of one centavo was created, but could not be read.');
  return cancelled === 'cancelled'
    ? step('charge', true, 'A charge of one centavo was created, read and cancelled.')
    : step('charge', false, `The charge of one centavo was created, but cancelling it gave: ${cancelled}.`);
};
