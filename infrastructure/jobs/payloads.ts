// What is stored in a job is checked where it is read: another version of the program, or somebody's hand, may have written it.
import { Ajv, type ValidateFunction } from 'ajv';
import { type JobHandler, type JobKind, type JobPayload, PayloadsFailed } from '../../application/ports/jobs.ts';

/** Schemas are compiled with the first payload: no start pays for them, and of the same schema it is done once. */
const ajv = new Ajv();

/** Payloads that a job carries at most, where its kind does not say. */
const PAYLOADS_PER_JOB = 20;

/** A stored payload does not fit the schema of its kind: another attempt would be in vain. */
export class MalformedPayload extends Error {
  override name = 'MalformedPayload';
}

/** A kind, with what must be known of it where jobs are stored. */
export interface QueueKind {
  readonly kind: JobKind;
  /** Whether a row is stored with each job until its work is done, because nothing else shows what is owed. */
  readonly isOwedByRow: boolean;
}

export class KnownQueue {
  readonly name: string;
  readonly isOwedByRow: boolean;
  readonly payloadsPerJob: number;
  readonly #kind: JobKind;
  #validate: ValidateFunction | null = null;

  constructor({ kind, isOwedByRow }: QueueKind) {
    this.name = kind.name;
    this.isOwedByRow = isOwedByRow;
    this.payloadsPerJob = kind.payloadsPerJob ?? PAYLOADS_PER_JOB;
    this.#kind = kind;
  }

  /** null: it is none of this kind, and about nothing. */
  subjectOf(payload: JobPayload): string | null {
    return this.#fits(payload) ? this.#kind.subjectOf(payload) : null;
  }

  /** The handler, for payloads that fit. Others fail, beside those whose work fails. */
  checked(handler: JobHandler): JobHandler {
    return {
      run: async (payloads, target, mayBeRepeat) => {
        const malformed = payloads.flatMap((payload) => this.#fault(payload) ?? []);
        if (malformed.length === 0) return handler.run(payloads, target, mayBeRepeat);
        const fit = payloads.filter((payload) => this.#fits(payload));
        const failures = fit.length === 0 ? [] : await failuresOf(fit, () => handler.run(fit, target, mayBeRepeat));
        throw new PayloadsFailed([...malformed, ...failures]);
      },
    };
  }

  #fits(payload: JobPayload): boolean {
    this.#validate ??= ajv.compile(this.#kind.schema);
    return this.#validate(payload);
  }

  #fault(payload: JobPayload): PayloadsFailed['failures'][number] | null {
    if (this.#fits(payload)) return null;
    const [first] = this.#validate?.errors ?? [];
    const where = first?.instancePath === '' ? 'it' : first?.instancePath.slice(1);
    return { payload, error: new MalformedPayload(`no payload of ${this.name}: ${where} ${first?.message}`) };
  }
}

const failuresOf = async (
  payloads: readonly JobPayload[],
  run: () => Promise<void>,
): Promise<PayloadsFailed['failures']> => {
  try {
    await run();
    return [];
  } catch (error) {
    return error instanceof PayloadsFailed
      ? error.failures
      : payloads.map((payload) => ({ payload, error: error as Error }));
  }
};

export const knownQueues = (kinds: readonly QueueKind[]): ReadonlyMap<string, KnownQueue> =>
  new Map(kinds.map((kind) => [kind.kind.name, new KnownQueue(kind)]));
