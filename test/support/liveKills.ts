// Live mode under kill -9: each run kills the whole process group while the institution handles one call, between the intent and its
// record. The caller checks the returned report.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { demoFile, readDemoAccount } from '../../infrastructure/demo/demoAccount.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import { KillableGateway } from '../world/killableGateway.ts';

/** Longer than a kill takes, so that the response never arrives. */
const SLOW_MS = 3_000;
const RUN_MS = 60_000;

type Step = 'charge.create' | 'return.create' | 'payout.create';
interface Run {
  /** The call during which the program is killed. */
  readonly step: Step;
  /** Whether the call takes effect although its response is lost. */
  readonly when: 'before' | 'after';
  readonly amount: number;
  readonly returned: number;
}
const anyRun: fc.Arbitrary<Run> = fc.record({
  step: fc.constantFrom('charge.create', 'return.create', 'payout.create'),
  when: fc.constantFrom('before', 'after'),
  // Leaves enough for the payout and all fees, whatever is returned.
  amount: fc.integer({ min: 2_000, max: 9_000 }),
  returned: fc.integer({ min: 1, max: 900 }),
});

/** Amounts in centavos. */
export interface Books {
  readonly received: number;
  readonly returned: number;
  readonly paidOut: number;
}
export interface LiveKillReport {
  readonly runs: number;
  /** The institution’s own books, and the sums expected from the responses of the API. */
  readonly institution: Books;
  readonly expected: Books;
  /** Charges, returns and payouts of the institution. Must be one of each kind per run, whatever was killed. */
  readonly made: { readonly charges: number; readonly returns: number; readonly payouts: number };
  readonly available: number;
  readonly reconciliation: { readonly difference: number; readonly findings: readonly unknown[] };
  readonly verify: { readonly differences: readonly unknown[] };
  readonly ledger: { readonly sums: readonly { readonly sum: number }[] };
}

const connect = async (gateway: KillableGateway, simulator: Simulator): Promise<string> => {
  const { clientId, clientSecret, pixKey } = simulator.clients[0] as Simulator['clients'][number];
  const secretFile = join(gateway.dataDir, 'client.secret');
  await writeFile(secretFile, clientSecret, { mode: 0o600 });
  const options = {
    kind: 'pix',
    preset: 'efi',
    name: 'simulator',
    'base-url': simulator.baseUrl,
    'token-url': simulator.tokenUrl,
    'client-id': clientId,
    'client-secret-file': secretFile,
    'pix-key': pixKey,
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const { id } = (await gateway.cli(['provider', 'add', ...words, '--allow-private'])) as { id: string };
  await gateway.cli(['provider', 'webhook', 'register', id]);
  return id;
};

/** Sends the request until it is answered. If `isKilled`, kills the program once while the institution handles `step`. */
const killedDuring = async <T>(
  { gateway, simulator }: { readonly gateway: KillableGateway; readonly simulator: Simulator },
  { step, when }: Pick<Run, 'step' | 'when'>,
  isKilled: boolean,
  send: () => Promise<T>,
): Promise<T> => {
  if (!isKilled) return send();
  if (when === 'after') simulator.fault({ on: step, kind: 'timeout', when });
  else simulator.fault({ on: step, kind: 'slow', ms: SLOW_MS });
  const called = simulator.whenCalled(step, simulator.calls(step) + 1);
  const answer = send();
  await called;
  await gateway.killAndRestart();
  return answer;
};

interface Money {
  readonly id: string;
  readonly status: string;
}

/** Reads until the status is `wanted`. Throws after 60 s. */
const settled = async (gateway: KillableGateway, path: string, read: (body: never) => Money, wanted: string) => {
  const giveUpAt = performance.now() + RUN_MS;
  for (;;) {
    const { status } = read(JSON.parse((await gateway.insist('GET', path)).text) as never);
    if (status === wanted) return;
    if (performance.now() > giveUpAt) throw new Error(`${path} is ${status}, not ${wanted}`);
  }
};

export const liveKills = async (runs: number, seed: number): Promise<LiveKillReport> => {
  const simulator = await startSimulator({ settings: { dialect: 'efi' } });
  const gateway = await KillableGateway.open(RUN_MS * (runs + 2), {}, 'live');
  const world = { gateway, simulator };
  try {
    const connection = await connect(gateway, simulator);
    const { accountId } = await readDemoAccount(demoFile(gateway.dataDir));
    await gateway.cli([
      'account',
      'settings',
      accountId,
      '--cashout-destinations',
      'any',
      '--velocity-account',
      '100000',
    ]);
    const expected = { received: 0, returned: 0, paidOut: 0 };
    for (const [n, run] of fc.sample(anyRun, { numRuns: runs, seed }).entries()) {
      const key = `live-${seed}-${n}`;
      const post = (path: string, body: unknown) => async () => {
        const { status, text } = await gateway.insist('POST', path, body, key);
        if (status !== 201) throw new Error(`${path} was refused: ${status} ${text}`);
        return JSON.parse(text) as Money & { readonly pix: { readonly txid: string } };
      };
      const during = <T>(step: Step, send: () => Promise<T>) => killedDuring(world, run, run.step === step, send);
      const charge = await during('charge.create', post('/v1/charges', { amount: run.amount, payment_method: 'pix' }));
      simulator.pay(charge.pix.txid);
      await settled(gateway, `/v1/charges/${charge.id}`, (body) => body, 'paid');
      const payment = `/v1/payments/tx_${charge.id.slice(3)}`;
      const back = { amount: run.returned, strategy: 'devolution', idempotencyKey: key };
      await during('return.create', post(`${payment}/refund`, back));
      const latest = (body: { readonly data: readonly Money[] }) => body.data[0] as Money;
      await settled(gateway, `${payment}/refunds`, latest, 'REFUNDED');
      const out = { amount: 50, destination: { pix_key: 'ana@example.com' } };
      const payout = await during('payout.create', post('/v1/payouts', out));
      await settled(gateway, `/v1/payouts/${payout.id}`, (body) => body, 'paid');
      expected.received += run.amount;
      expected.returned += run.returned;
      expected.paidOut += 50;
    }
    return { runs, expected, ...(await reported(world, connection)) };
  } finally {
    await gateway.close();
    await simulator.close();
  }
};

const reported = async (
  { gateway, simulator }: { readonly gateway: KillableGateway; readonly simulator: Simulator },
  connection: string,
): Promise<Omit<LiveKillReport, 'runs' | 'expected'>> => {
  await gateway.cli(['reconcile', 'run', '--connection', connection]);
  const day = saoPauloDay(fromMillis(Date.now()));
  const reconciliation = await gateway.cli(['reconcile', 'report', '--connection', connection, '--day', day]);
  const [client] = simulator.state().clients;
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
  const [received, sent] = [client?.received ?? [], client?.sent ?? []];
  const returns = received.flatMap((one) => one.returns);
  const { available } = JSON.parse((await gateway.insist('GET', '/v1/wallets/balance')).text) as { available: number };
  return {
    institution: {
      received: sum(received.map(({ amount }) => amount)),
      returned: sum(returns.map(({ amount }) => amount)),
      paidOut: sum(sent.map(({ amount }) => amount)),
    },
    made: { charges: client?.charges.length ?? 0, returns: returns.length, payouts: sent.length },
    available,
    reconciliation: reconciliation as LiveKillReport['reconciliation'],
    verify: (await gateway.cli(['projections', 'verify'])) as LiveKillReport['verify'],
    ledger: (await gateway.cli(['ledger', 'check'])) as LiveKillReport['ledger'],
  };
};

/**
 * Expects that no money is lost: the institution has each payment, return and payout once, the wallet has the rest, and the books agree.
 */
export const assertNothingLost = (report: LiveKillReport): void => {
  const { runs, expected, institution, made, available, reconciliation, verify, ledger } = report;
  expect(institution).to.deep.equal(expected);
  expect(made).to.deep.equal({ charges: runs, returns: runs, payouts: runs });
  expect(reconciliation).to.deep.include({ difference: 0, findings: [] });
  expect(verify.differences).to.deep.equal([]);
  expect(ledger.sums.filter(({ sum }) => sum !== 0)).to.deep.equal([]);
  expect(available).to.be.lessThan(expected.received - expected.returned - expected.paidOut);
};
