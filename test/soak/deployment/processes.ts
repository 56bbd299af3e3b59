// Two APIs, two workers and two projectors as processes. Each can be killed, frozen, cut off from PostgreSQL, or replaced by the other
// release, and keeps its address.
import { setTimeout as pause } from 'node:timers/promises';
import { type Exit, freePort, Program } from '../../world/program.ts';
import { type PostgresProxy, startPostgresProxy } from '../../world/tcpProxy.ts';
import type { Releases } from '../upgrade/releases.ts';
import type { DeploymentEnv } from './merchants.ts';

export type Role = 'api' | 'worker' | 'projector';
type Release = 'older' | 'newer';
/** The processes that faults strike. */
export const TARGETS = ['api 1', 'api 2', 'worker 1', 'worker 2', 'projector 1', 'projector 2'];
export type Target = (typeof TARGETS)[number];

/** Matches a consumer in the metrics, and the number of its partitions that the process leads. */
const LEADING = /^quita_subscription_leading\{group="\w+",consumer="([^"]+)"\} (\d+)$/gm;
const LOOK_MS = 100;
/** A process with a silent database takes this long to respond. A frozen one never responds. */
const METRICS_MS = 5_000;
/** After this time, a takeover will no longer happen. */
const TAKEOVER_MS_MAX = 30_000;

interface SlotOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly env: DeploymentEnv;
  readonly proxy: PostgresProxy;
  readonly releases: Releases;
}

/** A process that is running now. */
export interface Running {
  readonly name: string;
  readonly role: Role;
  readonly release: Release;
  readonly pid: number;
  readonly ageMs: number;
}

class Slot {
  readonly name: string;
  readonly role: Role;
  readonly #options: SlotOptions;
  readonly #unasked: string[];
  #release: Release = 'older';
  #bornAtMs = 0;
  #formerOutput = '';
  program: Program;
  ready: Promise<unknown>;

  constructor(name: string, role: Role, options: SlotOptions, unasked: string[]) {
    this.name = name;
    this.role = role;
    this.#options = options;
    this.#unasked = unasked;
    [this.program, this.ready] = this.#start();
  }
  get baseUrl(): string {
    return this.program.baseUrl;
  }
  get proxy(): PostgresProxy {
    return this.#options.proxy;
  }
  get running(): Running {
    const { name, role } = this;
    const ageMs = performance.now() - this.#bornAtMs;
    return { name, role, release: this.#release, pid: this.program.process.pid as number, ageMs };
  }

  /** Kills the process with -9 and starts it again. Resolves when the old process is dead. */
  async kill(): Promise<void> {
    await this.program.kill9();
    this.#startAgain();
  }

  /** Stops the process with SIGTERM and starts the other release. Resolves when the old process has ended. */
  async replace(): Promise<void> {
    await this.program.stop();
    this.#release = this.#release === 'older' ? 'newer' : 'older';
    this.#startAgain();
  }

  #startAgain(): void {
    this.#formerOutput += this.program.output;
    [this.program, this.ready] = this.#start();
  }

  #start(): [Program, Promise<unknown>] {
    const { dataDir, port, proxy, releases } = this.#options;
    const env = { ...this.#options.env, DATABASE_URL: proxy.connectionString };
    const program = new Program({ dataDir, port, env, role: this.role, root: releases[this.#release] });
    this.#bornAtMs = performance.now();
    void program.exited.then(({ code, signal }) => {
      if (signal !== 'SIGKILL' && !(code === 0 && signal === null))
        this.#unasked.push(`${this.name}: ${code ?? signal}: ${program.output.slice(-2_000)}`);
    });
    const ready = program.ready().catch((error: Error) => Promise.reject(new Error(`${this.name}: ${error.message}`)));
    ready.catch(() => undefined); // `ready` is awaited later.
    return [program, ready];
  }

  /** The output of all processes in this slot so far. */
  get output(): string {
    return this.#formerOutput + this.program.output;
  }

  /** Returns how many partitions of each consumer it leads, by its metrics. Empty if it doesn’t respond. */
  async leading(): Promise<ReadonlyMap<string, number>> {
    const metrics = await fetch(`${this.baseUrl}/metrics`, { signal: AbortSignal.timeout(METRICS_MS) })
      .then((answer) => answer.text())
      .catch(() => '');
    return new Map([...metrics.matchAll(LEADING)].map(([, consumer, is]) => [consumer as string, Number(is)]));
  }
}

export class Deployment {
  readonly #slots: readonly Slot[];
  /** Unexpected exits, with the last lines of output. Must stay empty. */
  readonly unasked: readonly string[];
  /** Number of partitions by divided consumer. */
  readonly partitions = new Map<string, number>();

  private constructor(slots: readonly Slot[], unasked: readonly string[]) {
    this.#slots = slots;
    this.unasked = unasked;
  }

  static async start(dataDir: string, env: DeploymentEnv, releases: Releases): Promise<Deployment> {
    const unasked: string[] = [];
    const slots: Slot[] = [];
    for (const role of ['projector', 'worker', 'api'] as const)
      for (const n of [1, 2]) {
        const proxy = await startPostgresProxy(env.DATABASE_URL);
        const options = { dataDir, port: await freePort(), env, proxy, releases };
        const slot = new Slot(`${role} ${n}`, role, options, unasked);
        slots.push(slot);
        await slot.ready;
      }
    const deployment = new Deployment(slots, unasked);
    process.once('exit', () => deployment.#killAll()); // The processes have groups of their own, so they would survive.
    return deployment;
  }

  /** Base URLs of the APIs, which stay the same across restarts. */
  get apis(): readonly string[] {
    return this.#slots.filter(({ role }) => role === 'api').map(({ baseUrl }) => baseUrl);
  }

  /** Resolves when all processes run. Rejects if one could not start. */
  async ready(): Promise<void> {
    await Promise.all(this.#slots.map(({ ready }) => ready));
  }

  /** The processes that are running now. */
  get running(): readonly Running[] {
    return this.#slots.map(({ running }) => running);
  }

  /** Kills and restarts the process. Returns the milliseconds until all consumers of its role were led again, or null for an API. */
  kill(target: Target): Promise<number | null> {
    return this.#end(target, (slot) => slot.kill());
  }

  /** Replaces the process by one of the other release. Returns the same as `kill`. */
  replace(target: Target): Promise<number | null> {
    return this.#end(target, (slot) => slot.replace());
  }

  /**
   * Freezes the process with SIGSTOP for `forMs`. Returns the milliseconds until the other one led everything, or null if it didn’t or for
   * an API.
   */
  freeze(target: Target, forMs: number): Promise<number | null> {
    return this.#suspend(target, forMs, {
      begin: ({ program }) => program.signal('SIGSTOP'),
      end: ({ program }) => program.signal('SIGCONT'),
    });
  }

  /** Silences its connections to PostgreSQL for `forMs`, then cuts them. Returns the same as `freeze`. */
  silence(target: Target, forMs: number): Promise<number | null> {
    return this.#suspend(target, forMs, { begin: ({ proxy }) => proxy.blackHole(), end: ({ proxy }) => proxy.heal() });
  }

  #slot(target: Target): Slot {
    return this.#slots.find(({ name }) => name === target)!;
  }

  async #end(target: Target, end: (slot: Slot) => Promise<void>): Promise<number | null> {
    const slot = this.#slot(target);
    if (slot.role === 'api') {
      await end(slot);
      return null;
    }
    const both = this.#ofRole(slot.role);
    await this.#allLed(both);
    const beganAtMs = performance.now();
    await end(slot);
    await this.#allLed(both);
    return performance.now() - beganAtMs;
  }

  async #suspend(
    target: Target,
    forMs: number,
    { begin, end }: { readonly begin: (slot: Slot) => void; readonly end: (slot: Slot) => void },
  ): Promise<number | null> {
    const slot = this.#slot(target);
    const both = this.#ofRole(slot.role);
    if (slot.role !== 'api') await this.#allLed(both);
    const beganAtMs = performance.now();
    begin(slot);
    const others = both.filter((one) => one !== slot);
    const isLed = slot.role !== 'api' && (await this.#areLed(others, forMs));
    const tookMs = performance.now() - beganAtMs;
    await pause(Math.max(0, forMs - tookMs));
    end(slot);
    if (slot.role !== 'api') await this.#allLed(both);
    return isLed ? tookMs : null;
  }

  /** Stops all processes with SIGTERM. Returns how they exited. */
  async stop(): Promise<readonly Exit[]> {
    return Promise.all(this.#slots.map(({ program }) => program.stop()));
  }

  #killAll(): void {
    for (const { program } of this.#slots)
      if (program.process.exitCode === null && program.process.signalCode === null) program.signalGroup('SIGKILL');
  }

  async kill9(): Promise<void> {
    await Promise.all(this.#slots.map(({ program }) => program.kill9()));
    await Promise.all(this.#slots.map(({ proxy }) => proxy.close()));
  }

  /** Returns the number of log lines at level error and above, by message. */
  complaints(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { output, role } of this.#slots)
      for (const line of output.split('\n')) {
        const found = /"level":([56]0).*"msg":"([^"]*)"/.exec(line);
        if (found) counts[`${role}: ${found[2]}`] = (counts[`${role}: ${found[2]}`] ?? 0) + 1;
      }
    return counts;
  }

  #ofRole(role: Role): readonly Slot[] {
    return this.#slots.filter((slot) => slot.role === role);
  }

  /** Waits until these processes lead every partition of every consumer of their role. Returns false after `timeoutMs`. */
  async #areLed(slots: readonly Slot[], timeoutMs: number): Promise<boolean> {
    for (const beganAtMs = performance.now(); performance.now() - beganAtMs < timeoutMs; await pause(LOOK_MS)) {
      const said = await Promise.all(slots.map((slot) => slot.leading()));
      const names = new Set(said.flatMap((leading) => [...leading.keys()]));
      const ledOf = (name: string): number => said.reduce((sum, leading) => sum + (leading.get(name) ?? 0), 0);
      if (names.size > 0 && [...names].every((name) => ledOf(name) >= (this.partitions.get(name) ?? 1))) return true;
    }
    return false;
  }

  async #allLed(slots: readonly Slot[]): Promise<void> {
    if (await this.#areLed(slots, TAKEOVER_MS_MAX)) return;
    const said = await Promise.all(slots.map(async (slot) => [slot.name, Object.fromEntries(await slot.leading())]));
    const all = JSON.stringify({ partitions: Object.fromEntries(this.partitions), said });
    throw new Error(`not every consumer is led after ${TAKEOVER_MS_MAX} ms: ${all}`);
  }
}
