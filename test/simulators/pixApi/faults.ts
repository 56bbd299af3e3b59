// Faults on demand: which call misbehaves, how, how often, and whether the call has its effect.
import { letters } from './ids.ts';
import type { Operation } from './operations.ts';

/** How an answer goes wrong. */
export const FAULT_KINDS = [
  'timeout', // no answer, and the connection stays open
  'reset', // the connection is reset instead of an answer
  'lost', // the answer breaks off in the middle
  '500',
  '503',
  '409',
  '422',
  '429', // with Retry-After
  '401', // and the token of the call expires
  'html', // a page of a proxy, status 502
  'empty', // the true status without a body
  'null',
  'list',
  'garbage', // a body that breaks off in the middle of the JSON
  'statusAsText', // a problem whose status is a string
  'wrongTypes', // the true answer, with texts for numbers and numbers for texts
  'slow', // the true answer, later
  '200', // these three without a body
  '202',
  '204',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** By nature the effect of the call takes place: only its answer is damaged. */
const AFTER: readonly FaultKind[] = ['lost', 'empty', 'null', 'list', 'garbage', 'wrongTypes', '200', '202', '204'];

export interface FaultOrder {
  /** An operation, or `*` for every call except those for tokens. */
  readonly on: Operation | '*';
  readonly kind: FaultKind;
  /** `before`: the call has no effect. `after`: it has its effect, and only the answer is damaged. */
  readonly when?: 'before' | 'after';
  /** How many calls, 1 if omitted; null for all until the faults are cleared. */
  readonly times?: number | null;
  /** How many matching calls go well first. */
  readonly skip?: number;
  /** Only calls whose path contains this text. */
  readonly matching?: string;
  /** Delay of `slow`, in milliseconds. */
  readonly ms?: number;
  /** Of 429, in seconds. */
  readonly retryAfter?: number;
}

export interface Fault {
  readonly id: string;
  readonly on: Operation | '*';
  readonly kind: FaultKind;
  readonly when: 'before' | 'after';
  readonly matching: string;
  readonly ms: number;
  readonly retryAfter: number;
  /** Calls that go well before the fault begins. */
  skip: number;
  /** Calls left; null for all. */
  left: number | null;
  hits: number;
}

const SLOW_MS = 1_000;

export class Faults {
  #faults: Fault[] = [];

  add(order: FaultOrder): Fault {
    const { on, kind, when, times = 1, skip = 0, matching = '', ms = SLOW_MS, retryAfter = 1 } = order;
    const fault: Fault = {
      id: letters(8),
      on,
      kind,
      when: when ?? (AFTER.includes(kind) ? 'after' : 'before'),
      matching,
      ms,
      retryAfter,
      skip,
      left: times,
      hits: 0,
    };
    this.#faults.push(fault);
    return fault;
  }

  clear(): void {
    this.#faults = [];
  }

  /** Returns the faults, used up or not, oldest first. */
  all(): readonly Fault[] {
    return this.#faults;
  }

  /** Returns the fault of this call, and counts it, or null if the call goes well. The oldest fault goes first. */
  take(operation: Operation, path: string): Fault | null {
    for (const fault of this.#faults) {
      const isMeant = fault.on === operation || (fault.on === '*' && operation !== 'token');
      if (!isMeant || fault.left === 0 || !path.includes(fault.matching)) continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      if (fault.left !== null) fault.left -= 1;
      fault.hits += 1;
      return fault;
    }
    return null;
  }

  /** The call is not one that the fault is meant for: it was not authorised. */
  giveBack(fault: Fault): void {
    if (fault.left !== null) fault.left += 1;
    fault.hits -= 1;
  }
}
