// What creating a charge and creating a payment have in common (rules K1–K4).

import { accountTime, type OpenAccount } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists } from '../../domain/payment/payment.ts';
import { documentKeyOf } from '../../domain/pix/taxId.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { type Operation, paymentIds } from '../core/derivedIds.ts';
import type { Actor } from '../core/eventMetadata.ts';
import { KeyedLock } from '../core/keyedLock.ts';
import type { Stopwatch } from '../ports/clock.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';

/** Who asks for a new charge or payment, and under which key. */
export interface CreationCommand extends Actor {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly idempotencyKey: string;
  readonly baseUrl: string;
}

interface Asked {
  readonly amount: Minor;
  readonly currency: string;
  readonly metadata: { readonly [key: string]: Json };
}

/** The part of the terms that follows from the key, the account and the clock. */
export const commonTerms = (
  { account, mode, idempotencyKey, baseUrl }: CreationCommand,
  operation: Operation,
  { amount, currency, metadata }: Asked,
  nowMs: number,
) => ({
  ...paymentIds(account, mode, operation, idempotencyKey),
  accountId: account.accountId,
  mode,
  amount,
  currency,
  metadata,
  baseUrl,
  createdAt: accountTime(account, mode, nowMs),
});

/** Longest wait for another request with the same key (K4). */
const WAIT_MS_MAX = 10_000;

/** Requests with the same key, one after the other. */
export class InFlightRequests {
  readonly #running = new KeyedLock();
  readonly #stopwatch: Stopwatch;
  readonly #keyParam: string;

  /** `keyParam`: where the key was sent. */
  constructor(stopwatch: Stopwatch, keyParam: string) {
    this.#stopwatch = stopwatch;
    this.#keyParam = keyParam;
  }

  /** The common case runs alone. A request whose key is in flight waits for the first one, with a bound: then
   * `idempotency_request_in_progress`. */
  run<T>(paymentId: string, create: () => Promise<T>): Promise<T | Rejection> {
    const isAlone = !this.#running.isBusy(paymentId);
    const work = this.#running.run(paymentId, create);
    return isAlone ? work : this.#withinTime(work);
  }

  async #withinTime<T>(work: Promise<T>): Promise<T | Rejection> {
    const param = this.#keyParam;
    const late = reject('idempotency_request_in_progress', `A request with this ${param} is still running.`, { param });
    const settled = new AbortController();
    const timeout = this.#stopwatch.pause(WAIT_MS_MAX, settled.signal).then(() => late);
    work.catch(() => undefined); // after the time-out nobody waits for it any more
    try {
      return await Promise.race([work, timeout]);
    } finally {
      settled.abort();
    }
  }
}

// --- The fraud guard of live charges (rule E6): after idempotency, before the provider is reached ---

interface GuardNeeds {
  readonly commands: CommandHandler;
  readonly velocity: VelocityGuard;
}

/**
 * null: the charge may be made, and is counted; test charges are not. A replay, and what a crash cut off, always passes.
 * `fraud.customer_velocity_exceeded` before `fraud.account_velocity_exceeded`: nothing is written, the key is not burnt.
 */
export const velocityRefusal = async (
  { commands, velocity }: GuardNeeds,
  { settings }: Pick<OpenAccount, 'settings'>,
  { paymentId, accountId, mode, customer, createdAt }: ChargeTerms,
): Promise<Rejection | null> => {
  if (mode !== 'live') return null;
  const before = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
  if (exists(before.state)) return null;
  const outcome = await velocity.reserve({
    paymentId,
    accountId,
    customer: documentKeyOf(customer.document ?? ''),
    at: createdAt,
    ...settings.velocity,
  });
  if (outcome === 'customer')
    return reject('fraud.customer_velocity_exceeded', 'Too many charges of this customer within an hour.');
  return outcome === 'account'
    ? reject('fraud.account_velocity_exceeded', 'Too many charges of this account within an hour.')
    : null;
};
