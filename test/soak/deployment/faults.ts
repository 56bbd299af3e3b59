// Causes one fault after another in a deployment, all drawn from one seed. After each fault, a read model or process is divided into
// another number of partitions.
import { setTimeout as pause } from 'node:timers/promises';
import { type Deployment, TARGETS, type Target } from './processes.ts';

export const KINDS = ['kill', 'freeze', 'silence', 'replace'] as const;
export type Kind = (typeof KINDS)[number];

const EVERY_MS = 10_000;
/** Minimum pause between the end of a fault and the next one. */
const REST_MS = 2_000;
/** How long a process is frozen or cut off. A lease expires after 5 to 7 s, so some return before another process has fully taken over. */
const [SUSPENDED_MS_MIN, SUSPENDED_MS_MAX] = [8_000, 20_000] as const;
/** The projectors first, then the workers, then the APIs, and back (docs/upgrading.md). */
const UPGRADE: readonly Target[] = ['projector 1', 'projector 2', 'worker 1', 'worker 2', 'api 1', 'api 2'];
const ROLLBACK: readonly Target[] = ['api 1', 'api 2', 'worker 1', 'worker 2', 'projector 1', 'projector 2'];

const DIVIDED = [
  'payments',
  'process/webhookFanOut',
  'webhookDeliveries',
  'process/instrumentIssuing',
  'dailyBalances',
];
/** This length and that of DIVIDED have no common divisor, so that each consumer gets each number. */
const PARTITIONS = [4, 1, 16, 2];

export interface Fault {
  readonly kind: Kind;
  readonly target: Target;
  /** How long a suspended process was away, in milliseconds. */
  readonly awayMs: number | null;
  /**
   * Milliseconds until all consumers of the role were led again, by another process if this one was suspended. Null if never, or for an
   * API.
   */
  readonly takeoverMs: number | null;
}

const randomOf = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** Yields all items in random order, again and again. */
function* shuffled<T>(all: readonly T[], random: (below: number) => number): Generator<T, never> {
  for (;;) {
    const rest = [...all];
    while (rest.length > 0) yield rest.splice(random(rest.length), 1)[0] as T;
  }
}

function* again<T>(all: readonly T[]): Generator<T, never> {
  for (;;) yield* all;
}

/** Returns whether the process is spared in the second half, to show whether its memory grows with time. */
const livesLong = (target: Target): boolean => target.endsWith('1');

interface Striking {
  readonly seed: number;
  readonly kinds: readonly Kind[];
  readonly forMs: number;
  readonly divide: (consumer: string, partitions: number) => Promise<unknown>;
  readonly say: (line: string) => void;
}

/** Causes faults for `forMs` milliseconds. Returns them. */
export const strikeInTurn = async (
  deployment: Deployment,
  { seed, kinds: allowed, forMs, divide, say }: Striking,
): Promise<readonly Fault[]> => {
  const random = randomOf(seed);
  const kinds = shuffled(allowed, random);
  const targets: Readonly<Record<Kind, Generator<Target, never>>> = {
    kill: shuffled(TARGETS, random),
    freeze: shuffled(TARGETS, random),
    silence: shuffled(TARGETS, random),
    replace: again([...UPGRADE, ...ROLLBACK]),
  };
  const endMs = performance.now() + forMs;
  const halfMs = endMs - forMs / 2;
  const drawTarget = (kind: Kind): Target => {
    const isEnding = kind === 'kill' || kind === 'replace';
    for (;;) {
      const target = targets[kind].next().value;
      if (!(isEnding && performance.now() > halfMs && livesLong(target))) return target;
    }
  };
  const strike = async (kind: Kind, target: Target): Promise<Fault> => {
    if (kind === 'kill' || kind === 'replace')
      return { kind, target, awayMs: null, takeoverMs: await deployment[kind](target) };
    const awayMs = SUSPENDED_MS_MIN + random(SUSPENDED_MS_MAX - SUSPENDED_MS_MIN);
    return { kind, target, awayMs, takeoverMs: await deployment[kind](target, awayMs) };
  };
  const faults: Fault[] = [];
  for (let nextMs = performance.now() + EVERY_MS; nextMs < endMs; ) {
    await pause(Math.max(0, nextMs - performance.now()));
    await deployment.ready();
    nextMs += EVERY_MS;
    const kind = kinds.next().value;
    const target = drawTarget(kind);
    say(`${kind} ${target}`);
    const fault = await strike(kind, target);
    faults.push(fault);
    const [consumer, partitions] = [DIVIDED, PARTITIONS].map((all) => all[faults.length % all.length]) as [
      string,
      number,
    ];
    await divide(consumer, partitions);
    deployment.partitions.set(consumer, partitions);
    say(`${JSON.stringify(fault)}; ${consumer} into ${partitions}`);
    nextMs = Math.max(nextMs, performance.now() + REST_MS);
  }
  await pause(Math.max(0, endMs - performance.now()));
  await deployment.ready();
  return faults;
};
