// Two APIs, two workers and two projectors as processes, which can be killed and start again under the same address.
import { setTimeout as pause } from 'node:timers/promises';
import { type Exit, freePort, Program } from '../../world/program.ts';

export type Role = 'api' | 'worker' | 'projector';
/** Whoever is to die. */
export const TARGETS = ['api 1', 'api 2', 'worker 1', 'worker 2', 'projector 1', 'projector 2'];
export type Target = (typeof TARGETS)[number];

/** A consumer of the log in the metrics, and how many of its partitions the process leads. */
const LEADING = /^quita_subscription_leading\{group="\w+",consumer="([^"]+)"\} (\d+)$/gm;
const LOOK_MS = 100;
/** Beyond it nobody will take over. */
const TAKEOVER_MS_MAX = 30_000;

interface SlotOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

class Slot {
  readonly name: string;
  readonly role: Role;
  readonly #options: SlotOptions;
  readonly #unasked: string[];
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

  /** kill -9, and a new start at once. Resolves when it is dead. */
  async kill(): Promise<void> {
    await this.program.kill9();
    this.#formerOutput += this.program.output;
    [this.program, this.ready] = this.#start();
  }

  #start(): [Program, Promise<unknown>] {
    const program = new Program({ ...this.#options, role: this.role });
    void program.exited.then(({ code, signal }) => {
      if (signal !== 'SIGKILL' && !(code === 0 && signal === null))
        this.#unasked.push(`${this.name}: ${code ?? signal}: ${program.output.slice(-2_000)}`);
    });
    const ready = program.ready();
    ready.catch(() => undefined); // it is asked for later
    return [program, ready];
  }

  /** Of all its lives. */
  get output(): string {
    return this.#formerOutput + this.program.output;
  }

  /** How many partitions of each consumer of its role it leads, as its metrics say; none while it does not answer. */
  async leading(): Promise<ReadonlyMap<string, number>> {
    const metrics = await fetch(`${this.baseUrl}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    return new Map([...metrics.matchAll(LEADING)].map(([, consumer, is]) => [consumer as string, Number(is)]));
  }
}

export class Deployment {
  readonly #slots: readonly Slot[];
  /** Ends that nobody asked for, with the last lines of output. Must stay empty. */
  readonly unasked: readonly string[];
  /** Number of partitions of consumers that are divided. */
  readonly partitions = new Map<string, number>();

  private constructor(slots: readonly Slot[], unasked: readonly string[]) {
    this.#slots = slots;
    this.unasked = unasked;
  }

  static async start(dataDir: string, env: Readonly<Record<string, string>>): Promise<Deployment> {
    const unasked: string[] = [];
    const slots: Slot[] = [];
    for (const role of ['projector', 'worker', 'api'] as const)
      for (const n of [1, 2]) {
        const slot = new Slot(`${role} ${n}`, role, { dataDir, port: await freePort(), env }, unasked);
        slots.push(slot);
        await slot.ready;
      }
    const deployment = new Deployment(slots, unasked);
    process.once('exit', () => deployment.#killAll()); // they have process groups of their own and would stay
    return deployment;
  }

  /** Base addresses of the APIs: the same over restarts. */
  get apis(): readonly string[] {
    return this.#slots.filter(({ role }) => role === 'api').map(({ baseUrl }) => baseUrl);
  }

  /** Until all run. Rejects when one could not start. */
  async ready(): Promise<void> {
    await Promise.all(this.#slots.map(({ ready }) => ready));
  }

  /** Kills it and starts it again. Returns milliseconds until all consumers of its role were led again; null: it is an API. */
  async kill(target: Target): Promise<number | null> {
    const slot = this.#slots.find(({ name }) => name === target)!;
    if (slot.role === 'api') {
      await slot.kill();
      return null;
    }
    await this.#allLed(slot.role);
    const killedAtMs = performance.now();
    await slot.kill();
    await this.#allLed(slot.role);
    return performance.now() - killedAtMs;
  }

  /** SIGTERM to all. How they ended. */
  async stop(): Promise<readonly Exit[]> {
    return Promise.all(this.#slots.map(({ program }) => program.stop()));
  }

  #killAll(): void {
    for (const { program } of this.#slots)
      if (program.process.exitCode === null && program.process.signalCode === null) program.signalGroup('SIGKILL');
  }

  async kill9(): Promise<void> {
    await Promise.all(this.#slots.map(({ program }) => program.kill9()));
  }

  /** What they said at level error and above, counted by its text. */
  complaints(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { output, role } of this.#slots)
      for (const line of output.split('\n')) {
        const found = /"level":([56]0).*"msg":"([^"]*)"/.exec(line);
        if (found) counts[`${role}: ${found[2]}`] = (counts[`${role}: ${found[2]}`] ?? 0) + 1;
      }
    return counts;
  }

  /** Until each consumer of the role has a leader. */
  async #allLed(role: Role): Promise<void> {
    const both = this.#slots.filter((slot) => slot.role === role);
    for (const beganAtMs = performance.now(); performance.now() - beganAtMs < TAKEOVER_MS_MAX; await pause(LOOK_MS)) {
      const said = await Promise.all(both.map((slot) => slot.leading()));
      const names = new Set(said.flatMap((leading) => [...leading.keys()]));
      const ledOf = (name: string): number => said.reduce((sum, leading) => sum + (leading.get(name) ?? 0), 0);
      if (names.size > 0 && [...names].every((name) => ledOf(name) >= (this.partitions.get(name) ?? 1))) return;
    }
    throw new Error(`not every consumer of the ${role}s is led after ${TAKEOVER_MS_MAX} ms`);
  }
}
