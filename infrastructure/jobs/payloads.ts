// Stored payloads are validated when they are read, because another version of the program, or a person, may have written them. Payloads
// of a newer version are left to a worker of that version.
import { Ajv, type ValidateFunction } from 'ajv';
import { type JobHandler, type JobKind, type JobPayload, PayloadsFailed } from '../../application/ports/jobs.ts';
import { unversioned, versioned, versionOf } from '../../application/ports/payloadVersions.ts';

/** Schemas are compiled with their first payload, so that a start does not wait for it. Each schema is compiled once. */
const ajv = new Ajv();

/** Most payloads per job, unless its kind sets another limit. */
const PAYLOADS_PER_JOB = 20;

/** A stored payload does not match the schema of its kind. A retry would fail too. */
export class MalformedPayload extends Error {
  override name = 'MalformedPayload';
}

/** A newer version of the program stored the payload. The job waits for a worker of that version. */
export class NewerPayload extends Error {
  override name = 'NewerPayload';
  readonly version: number;

  constructor(queue: string, version: number, known: number) {
    super(
      `the payload has version ${version} of ${queue}, but this worker knows version ${known}: a newer worker must take it`,
    );
    this.version = version;
  }
}

/** A kind of job, with the facts that its storage needs. */
export interface QueueKind {
  readonly kind: JobKind;
  /** Whether a row is stored with each job until its work is done, because no other data shows that the work is owed. */
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

  get #version(): number {
    return this.#kind.version ?? 1;
  }

  /** Returns the payload as it is stored. */
  stored(payload: JobPayload): JobPayload {
    return versioned(payload, this.#kind);
  }

  /** Returns the subject of a stored payload, or null if the payload does not match this kind. A newer payload is its own subject. */
  subjectOf(stored: JobPayload): string | null {
    if (versionOf(stored) > this.#version) return JSON.stringify(stored);
    const payload = unversioned(stored);
    return this.#fits(payload) ? this.#kind.subjectOf(payload) : null;
  }

  /** Returns a payload as its handlers know it, or null if this version of the program can't read it. */
  known(stored: JobPayload): JobPayload | null {
    const payload = unversioned(stored);
    return versionOf(stored) <= this.#version && this.#fits(payload) ? payload : null;
  }

  /** Returns the handler for stored payloads, limited to valid ones: invalid payloads fail, and the others still run. */
  checked(handler: JobHandler): JobHandler {
    const valid = this.#valid(handler);
    return {
      run: async (stored, target, mayBeRepeat, signal) => {
        const newest = Math.max(...stored.map(versionOf));
        if (newest > this.#version) throw new NewerPayload(this.name, newest, this.#version);
        if (newest <= 1) return valid.run(stored, target, mayBeRepeat, signal);
        const payloads = stored.map(unversioned);
        const storedOf = new Map(payloads.map((payload, i) => [JSON.stringify(payload), stored[i]]));
        try {
          await valid.run(payloads, target, mayBeRepeat, signal);
        } catch (error) {
          if (!(error instanceof PayloadsFailed)) throw error;
          const asStored = (payload: JobPayload): JobPayload => storedOf.get(JSON.stringify(payload)) ?? payload;
          throw new PayloadsFailed(error.failures.map((one) => ({ ...one, payload: asStored(one.payload) })));
        }
      },
    };
  }

  #valid(handler: JobHandler): JobHandler {
    return {
      run: async (payloads, target, mayBeRepeat, signal) => {
        const malformed = payloads.flatMap((payload) => this.#fault(payload) ?? []);
        if (malformed.length === 0) return handler.run(payloads, target, mayBeRepeat, signal);
        const fit = payloads.filter((payload) => this.#fits(payload));
        const failures =
          fit.length === 0 ? [] : await failuresOf(fit, () => handler.run(fit, target, mayBeRepeat, signal));
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
    return { payload, error: new MalformedPayload(`invalid payload for ${this.name}: ${where} ${first?.message}`) };
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
