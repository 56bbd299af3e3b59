// One account attacks the program in six ways at once, beside the steady charges of another (`npm run soak:hostile`). MINUTES and RATE
// (charges per second) change the run. ATTACKS selects some of the six, as in 1,4.
import { type ChildProcess, fork } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { quantile } from '../bench/statistics.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import type { AttackOrder } from './hostile/attacks.ts';
import { Caller } from './hostile/requests.ts';

const MINUTES = Number(process.env['MINUTES'] ?? 3);
const RATE = Number(process.env['RATE'] ?? 10);
const ATTACKS = (process.env['ATTACKS'] ?? '1,2,3,4,5,6').split(',').map(Number);
/** Requests per minute of one key. The steady charges must stay below it. */
const PER_MINUTE = Math.max(600, RATE * 90);

const P99_MS_MAX = 500;
const RIGHT_PASSWORD_MS_MAX = 12_000;
const STRANGER_MS_MAX = 2_000;
/** Growth over the warm process: files in transfer, and a heap that is not collected at once. */
const MEMORY_GROWTH_MAX = 400_000_000;
/** Unconfirmed files of an account (E9), the viewed file, and uploads in progress. */
const EVIDENCE_BYTES_MAX = 300_000_000;
const WARM_UP_MS = 5_000;
const SIGN_IN_EVERY_MS = 5_000;
const LOOK_MS = 500;

interface Owner {
  readonly email: string;
  readonly password: string;
  readonly testApiKey: string;
}
interface SignIn {
  readonly status: number;
  readonly tookMs: number;
}

const residentBytes = async ({ process }: Program): Promise<number> => {
  const status = await readFile(`/proc/${process.pid}/status`, 'utf8');
  return 1_024 * Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
};

/** Returns the total size of the files below the folder. Files that vanish meanwhile count as empty. */
const bytesIn = async (folder: string): Promise<number> => {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** Returns the highest values until the signal. */
const watchBounds = async (program: Program, dataDir: string, signal: AbortSignal) => {
  const most = { memory: 0, evidence: 0 };
  while (!signal.aborted) {
    most.memory = Math.max(most.memory, await residentBytes(program));
    most.evidence = Math.max(most.evidence, await bytesIn(join(dataDir, 'evidence')));
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return most;
};

const signInAgainAndAgain = async (
  { port }: { readonly port: number },
  { email, password, testApiKey: apiKey }: Owner,
  address: string,
  signal: AbortSignal,
): Promise<SignIn[]> => {
  const caller = new Caller({ port, apiKey }, address);
  const answers: SignIn[] = [];
  while (!signal.aborted) {
    const beganAt = performance.now();
    const { status } = await caller.call('POST', '/v1/auth/login', { email, password });
    answers.push({ status, tookMs: performance.now() - beganAt });
    await pause(SIGN_IN_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  await caller.close();
  return answers;
};

interface Charges {
  readonly statuses: readonly number[];
  readonly tookMs: readonly number[];
  /** The longest response time of each second, in milliseconds. */
  readonly slowest: readonly number[];
}

/** Each charge is due at its own time, and its duration counts from then, so that a stall shows in every charge during it. */
const chargeSteadily = async (caller: Caller, name: string, count: number): Promise<Charges> => {
  const beganAt = performance.now();
  const charges = Array.from({ length: count }, async (_, n) => {
    const dueAt = beganAt + (n * 1_000) / RATE;
    await pause(Math.max(0, dueAt - performance.now()));
    const body = { amount: 1_000 + n, payment_method: 'pix', description: `Order ${n}` };
    const { status } = await caller.call('POST', '/v1/charges', body, { 'idempotency-key': `${name}-${n}` });
    return { status, tookMs: performance.now() - dueAt };
  });
  const done = await Promise.all(charges);
  await caller.close();
  return {
    statuses: [...new Set(done.map(({ status }) => status))],
    tookMs: done.map(({ tookMs }) => tookMs),
    slowest: Array.from({ length: Math.ceil(count / RATE) }, (_, second) =>
      Math.round(Math.max(...done.slice(second * RATE, (second + 1) * RATE).map(({ tookMs }) => tookMs))),
    ),
  };
};

const longest = (answers: readonly SignIn[]): number => Math.round(Math.max(...answers.map(({ tookMs }) => tookMs)));
const statuses = (answers: readonly SignIn[]): number[] => [...new Set(answers.map(({ status }) => status))];

describe('an attack by one account', function suite() {
  this.timeout(0);
  let dataDir: string;
  let port: number;
  let program: Program;
  let attacker: ChildProcess | null = null;

  before(async () => {
    dataDir = await newDataDir();
    port = await freePort();
    const env = { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE), LOG_LEVEL: 'error' };
    program = await new Program({ dataDir, port, env }).ready();
  });
  after(async () => {
    attacker?.kill('SIGKILL');
    await program?.stop();
    await removeDataDir(dataDir);
  });

  const owner = async (name: string): Promise<Owner> =>
    (await cli(dataDir, ['account', 'create', '--name', name, '--email', `${name}@example.com`])) as Owner;
  const charge = ({ testApiKey: apiKey }: Owner, name: string, durationMs: number): Promise<Charges> =>
    chargeSteadily(new Caller({ port, apiKey }, '127.0.0.1'), name, Math.round((RATE * durationMs) / 1_000));
  const attack = (order: AttackOrder): void => {
    attacker = fork(join(import.meta.dirname, 'hostile/attackProcess.ts'));
    attacker.send(order);
  };
  const stopAttack = (): Promise<Record<string, Record<string, number>>> =>
    new Promise((resolve, reject) => {
      attacker?.once('message', (counts) => resolve(counts as Record<string, Record<string, number>>));
      attacker?.once('exit', (code) => reject(new Error(`the attacker ended with ${code}`)));
      attacker?.send('stop');
    });

  it(`harms no other account within ${MINUTES} minutes`, async () => {
    const [victim, hostile, guessed, stranger] = (await Promise.all(
      ['victim', 'hostile', 'guessed', 'stranger'].map(owner),
    )) as [Owner, Owner, Owner, Owner];
    const calm = await charge(victim, 'calm', WARM_UP_MS);
    const memoryBefore = await residentBytes(program);

    attack({ port, apiKey: hostile.testApiKey, guessedEmail: guessed.email, attacks: ATTACKS });
    await pause(WARM_UP_MS);
    const over = new AbortController();
    const beside = Promise.all([
      watchBounds(program, dataDir, over.signal),
      signInAgainAndAgain({ port }, guessed, '127.0.0.11', over.signal),
      signInAgainAndAgain({ port }, stranger, '127.0.0.12', over.signal),
    ]);
    const under = await charge(victim, 'under-attack', MINUTES * 60_000).finally(() => over.abort());
    const [most, right, strange] = await beside;
    console.log(await stopAttack());
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    const [calmP99, p50, p99] = [
      quantile(calm.tookMs, 0.99),
      quantile(under.tookMs, 0.5),
      quantile(under.tookMs, 0.99),
    ];
    console.log(
      `${under.tookMs.length} charges: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (calm: ${calmP99.toFixed(0)} ms)`,
    );
    console.log(`slowest of each second: ${under.slowest.join(' ')}`);
    console.log(`memory ${megabytes(memoryBefore)} → ${megabytes(most.memory)}, evidence ${megabytes(most.evidence)}`);
    console.log(
      `sign-ins: right password ${longest(right)} ms (${right.length}), stranger ${longest(strange)} ms (${strange.length})`,
    );

    expect(under.statuses, 'every charge is taken').to.deep.equal([201]);
    expect(p99).to.be.below(P99_MS_MAX);
    expect(most.memory - memoryBefore).to.be.below(MEMORY_GROWTH_MAX);
    expect(most.evidence).to.be.below(EVIDENCE_BYTES_MAX);
    expect([statuses(right), statuses(strange)]).to.deep.equal([[200], [200]]);
    expect(longest(right)).to.be.below(RIGHT_PASSWORD_MS_MAX);
    expect(longest(strange)).to.be.below(STRANGER_MS_MAX);
  });
});
