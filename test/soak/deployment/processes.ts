// Two APIs, two workers, a projector and its standby as processes, which can be killed and start again under the same address.
import { setTimeout as pause } from 'node:timers/promises';
import { type Exit, freePort, Program } from '../../world/program.ts';

export type Role = 'api' | 'worker' | 'projector';
/** Whoever is to die; leaders and standbys are told apart when it happens. */
export const TARGETS = ['api 1', 'api 2', 'leading worker', 'standby worker', 'leading projector', 'standby projector'];
export type Target = (typeof TARGETS)[number];

/** What follows the log in a role, as the metrics call it. */
const GROUP = { worker: 'reactor', projector: 'projector' } as const;
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

  /** As its metrics say; false while it does not answer. */
  async isLeading(): Promise<boolean> {
    if (this.role === 'api') return false;
    const metrics = await fetch(`${this.baseUrl}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    return metrics.includes(`quita_subscription_leading{group="${GROUP[this.role]}"} 1`);
  }
}

export class Deployment {
  readonly #slots: readonly Slot[];
  /** Ends that nobody asked for, with the last lines of output. Must stay empty. */
  readonly unasked: readonly string[];

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

  /** Kills it and starts it again. Returns milliseconds until somebody led in its place; null when it did not lead. */
  async kill(target: Target): Promise<number | null> {
    const role = target.split(' ').find((word) => word in GROUP) as 'worker' | 'projector' | undefined;
    if (role === undefined) {
      await this.#slots.find(({ name }) => name === target)!.kill();
      return null;
    }
    const leader = await this.#leader(role);
    if (target.startsWith('standby')) {
      await this.#slots.find((slot) => slot.role === role && slot !== leader)!.kill();
      return null;
    }
    const killedAtMs = performance.now();
    await leader.kill();
    await this.#leader(role);
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

  async #leader(role: 'worker' | 'projector'): Promise<Slot> {
    const both = this.#slots.filter((slot) => slot.role === role);
    for (const beganAtMs = performance.now(); performance.now() - beganAtMs < TAKEOVER_MS_MAX; await pause(LOOK_MS))
      for (const slot of both) if (await slot.isLeading()) return slot;
    throw new Error(`no ${role} leads after ${TAKEOVER_MS_MAX} ms`);
  }
}
