// Faults on demand: which call fails, how, how often, and whether the call takes effect.
import { letters } from './ids.ts';
import type { Operation } from './operations.ts';

/** The ways in which a response can fail. */
export const FAULT_KINDS = [
  'timeout', // no response, and the connection stays open
  'reset', // the connection is reset instead of a response
  'lost', // the response breaks off in the middle
  '500',
  '503',
  '409',
  '422',
  '429', // with Retry-After
  '401', // and the call’s token expires
  'html', // an error page of a proxy, status 502
  'empty', // the true status, without a body
  'null',
  'list',
  'garbage', // a body that breaks off in the middle of the JSON
  'statusAsText', // a problem whose status is a string
  'wrongTypes', // the true response, with texts for numbers and numbers for texts
  'slow', // the true response, delayed
  '200', // This and the next two: no body.
  '202',
  '204',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Faults that only damage the response, so that the call takes effect. */
const AFTER: readonly FaultKind[] = ['lost', 'empty', 'null', 'list', 'garbage', 'wrongTypes', '200', '202', '204'];

export interface FaultOrder {
  /** An operation, or `*` for every call except those for tokens. */
  readonly on: Operation | '*';
  readonly kind: FaultKind;
  /** `before`: the call has no effect. `after`: it takes effect, and only the response is damaged. */
  readonly when?: 'before' | 'after';
  /** Number of affected calls: 1 if omitted, or null for all calls until the faults are cleared. */
  readonly times?: number | null;
  /** Number of matching calls that succeed first. */
  readonly skip?: number;
  /** Affects only calls whose path contains this text. */
  readonly matching?: string;
  /** Delay of `slow`, in milliseconds. */
  readonly ms?: number;
  /** The `Retry-After` of 429, in seconds. */
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
  /** Number of calls that still succeed before the fault starts. */
  skip: number;
  /** Number of calls left, or null for all. */
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

  /** Returns the faults, including used ones, oldest first. */
  all(): readonly Fault[] {
    return this.#faults;
  }

  /** Returns the oldest fault that applies to this call and counts it, or null if the call should succeed. */
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

  /** Returns a fault to the queue because the call was not authorized and so doesn’t count. */
  giveBack(fault: Fault): void {
    if (fault.left !== null) fault.left += 1;
    fault.hits -= 1;
  }
}
