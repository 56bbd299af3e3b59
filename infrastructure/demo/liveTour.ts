// `demo --live`: live mode against the simulated institution, so that a newcomer sees it work without a bank. It connects the simulator for
// the demo account alone, and disconnects it at the end, also if the tour fails or is interrupted.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ACCOUNT } from '../../domain/account/account.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { type AccountId, PREFIX } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { formatAmount } from '../../domain/presentation/amount.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { systemStopwatch } from '../system/system.ts';
import { demoAccountOf, Merchant } from './merchant.ts';
import { quita } from './quita.ts';

type Say = (text: string) => void;

/** Centavos. */
const AMOUNT = 5_000;
const RETURNED = 1_500;
const PAID_OUT = 1_000;
/** How long the tour waits for each step. */
const STEP_MS_MAX = 30_000;
const LOOK_MS = 200;
/** The name of the tour's connections, by which a later tour finds what an earlier one left enabled. */
const NAME = 'live-tour';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const SIMULATOR = pathOf('../../test/simulators/pixApi/simulator.ts');

const reais = (centavos: number): string => formatAmount(centavos, 'BRL', 'en');
interface Institution {
  readonly process: ChildProcess;
  /** The options of `provider add`. */
  readonly connect: readonly string[];
  readonly controlUrl: string;
}

/** Starts the simulated institution and returns what it prints. */
const startInstitution = async (dataDir: string): Promise<Institution> => {
  const folder = join(dataDir, 'simulator');
  const options = ['--data-dir', folder, '--dialect', 'efi', '--port', '0', '--control-port', '0'];
  const process_ = spawn(process.execPath, [SIMULATOR, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  let connect: readonly string[] | null = null;
  let controlUrl: string | null = null;
  for await (const line of createInterface({ input: process_.stdout })) {
    controlUrl ??= /^\s+control API\s+(\S+)$/.exec(line)?.[1] ?? null;
    connect ??= /provider add (.+)$/.exec(line)?.[1]?.split(' ') ?? null;
    if (connect !== null && controlUrl !== null) return { process: process_, connect, controlUrl };
  }
  throw new ConfigError('the simulated institution did not start');
};

const stop = async ({ process: child }: Institution): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};

/** Asks until the answer is as wanted. Throws if it takes longer than STEP_MS_MAX, or when the signal aborts. */
const until = async <T>(
  signal: AbortSignal,
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
): Promise<T> => {
  const giveUpAt = performance.now() + STEP_MS_MAX;
  for (;;) {
    signal.throwIfAborted();
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > giveUpAt) throw new Error(`${what} took longer than ${STEP_MS_MAX / 1_000} s`);
    await systemStopwatch.pause(LOOK_MS, signal);
  }
};

interface Charge {
  readonly id: string;
  readonly status: string;
  readonly pix: { readonly txid: string; readonly br_code: string };
}
interface Movement {
  readonly id: string;
  readonly status: string;
}
interface Report {
  readonly received: number;
  readonly returned: number;
  readonly paidOut: number;
  readonly difference: number;
  readonly findings: readonly unknown[];
}

const control = async (url: string): Promise<void> => {
  const response = await fetch(url, { method: 'POST', body: '{}' });
  if (!response.ok) throw new Error(`the simulated institution answered ${response.status}: ${await response.text()}`);
};

const moveMoney = async (
  merchant: Merchant,
  { controlUrl }: Institution,
  say: Say,
  signal: AbortSignal,
): Promise<void> => {
  const charge = await merchant.call<Charge>('POST', '/v1/charges', { amount: AMOUNT, payment_method: 'pix' });
  say(`\n2. Created a charge of ${reais(AMOUNT)} with the live key: ${charge.id}\n   ${charge.pix.br_code}`);
  await control(`${controlUrl}/charges/${charge.pix.txid}/pay`);
  const read = () => merchant.call<Charge>('GET', `/v1/charges/${charge.id}`);
  const paid = await until(signal, 'the payment', read, ({ status }) => status === 'paid');
  say(`\n3. The payer paid at the institution, which called Quita back: the charge is ${paid.status}`);
  const payment = `/v1/payments/${PAYMENT.idPrefix}${charge.id.slice(PREFIX.charge.length)}`;
  const back = { amount: RETURNED, strategy: 'devolution', idempotencyKey: randomUUID() };
  const refund = await merchant.call<Movement>('POST', `${payment}/refund`, back);
  const refunds = () => merchant.call<{ data: readonly Movement[] }>('GET', `${payment}/refunds`);
  await until(signal, 'the refund', refunds, ({ data }) => data[0]?.status === 'REFUNDED');
  say(`\n4. Returned ${reais(RETURNED)} to the payer: ${refund.id}`);
  const out = { amount: PAID_OUT, destination: { pix_key: 'ana@example.com' } };
  const payout = await merchant.call<Movement>('POST', '/v1/payouts', out);
  const readPayout = () => merchant.call<Movement>('GET', `/v1/payouts/${payout.id}`);
  await until(signal, 'the payout', readPayout, ({ status }) => status === 'paid');
  say(`\n5. Paid out ${reais(PAID_OUT)}: ${payout.id}`);
};

interface Connection {
  readonly id: string;
  readonly name: string;
  readonly accountId: string | null;
  readonly status: string;
}

/** Disables the connections of this tour and of earlier ones that ended before they could. */
const disableTours = async (accountId: AccountId): Promise<void> => {
  const { connections } = await quita<{ connections: readonly Connection[] }>('provider', 'list');
  for (const { id, name, accountId: account, status } of connections)
    if (name === NAME && account === ACCOUNT.idPrefix + accountId && status === 'enabled')
      await quita('provider', 'disable', id);
};

/** Runs `work` while the account may pay out to any Pix key, and then restores its setting. */
const withAnyDestination = async <T>(accountId: string, work: () => Promise<T>): Promise<T> => {
  const set = ['account', 'settings', accountId] as const;
  const { settings } = await quita<{ settings: { cashoutDestinations: readonly string[] | null } }>(...set);
  await quita(...set, '--cashout-destinations', 'any');
  try {
    return await work();
  } finally {
    const before = settings.cashoutDestinations;
    await quita(...set, '--cashout-destinations', before === null ? 'any' : before.join() || 'none');
  }
};

const reconcile = async (id: string, say: Say): Promise<Report> => {
  await quita('reconcile', 'run', '--connection', id);
  const day = saoPauloDay(fromMillis(Date.now()));
  const report = await quita<Report>('reconcile', 'report', '--connection', id, '--day', day);
  say(
    `\n6. Compared the day with the institution's records: received ${reais(report.received)}, returned ${reais(report.returned)},`,
  );
  say(
    `   paid out ${reais(report.paidOut)}, difference ${reais(report.difference)}, ${report.findings.length} findings`,
  );
  return report;
};

/** Takes the tour. Returns the connection and the day's reconciliation. */
export const liveTour = async (
  config: Config,
  say: Say,
  signal: AbortSignal,
): Promise<{ readonly connection: string; readonly report: Report }> => {
  const { baseUrl, liveApiKey, accountId } = await demoAccountOf(config);
  const merchant = new Merchant(baseUrl, liveApiKey);
  await disableTours(accountId);
  const institution = await startInstitution(config.dataDir);
  const connect = async () => {
    const only = ['--name', NAME, '--account', accountId, '--order', '0'];
    const { id } = await quita<{ id: string; callbackUrl: string }>('provider', 'add', ...institution.connect, ...only);
    say(`\n1. Connected the simulated institution for the demo account: ${id}`);
    await quita('provider', 'webhook', 'register', id);
    await withAnyDestination(accountId, () => moveMoney(merchant, institution, say, signal));
    return { connection: id, report: await reconcile(id, say) };
  };
  try {
    const done = await connect().finally(() => disableTours(accountId));
    say('\n7. Disabled the connection again, because the simulated institution stops now\n');
    return done;
  } finally {
    await stop(institution);
  }
};
