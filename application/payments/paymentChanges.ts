// Waits until the read model shows an effect on a payment. Whenever it has applied something, one query finds the payments that changed,
// however many callers wait. Only those are read.
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { type Moving, pollUntil } from '../core/quiescence.ts';
import type { PaymentViews, Watched } from '../ports/readModels/payments.ts';

interface Waiting {
  readonly watched: Watched;
  /** The last version found; null before the first. */
  version: string | null;
  onChange: () => void;
}

export class PaymentChanges {
  /** Announces moves of the payments read model. */
  readonly #moving: Moving;
  readonly #payments: Pick<PaymentViews, 'find' | 'versions'>;
  readonly #waiting = new Set<Waiting>();
  /** Makes the running search repeat; null if none runs. */
  #searchAgain: (() => void) | null = null;

  constructor(moving: Moving, payments: Pick<PaymentViews, 'find' | 'versions'>) {
    this.#moving = moving;
    this.#payments = payments;
  }

  /**
   * Calls `look` with the tenant's payment as it is, and after each change. Returns the first result that is not null, or null after
   * `timeoutMs`.
   */
  until<T>(
    tenant: Tenant,
    id: PaymentId,
    timeoutMs: number,
    look: (payment: ExistingPayment) => T | null,
  ): Promise<T | null> {
    const waiting: Waiting = { watched: { tenant, paymentId: id }, version: null, onChange: () => undefined };
    const onMove = (onChange: () => void) => {
      waiting.onChange = onChange;
      return this.#add(waiting);
    };
    return pollUntil({ ...this.#moving, onMove, lookMs: timeoutMs }, timeoutMs, async () => {
      // A payment that is read before its version is known may be older. The first version counts as a change.
      const payment = waiting.version === null ? null : await this.#payments.find(tenant, id);
      return payment && look(payment);
    });
  }

  #add(waiting: Waiting): () => void {
    this.#waiting.add(waiting);
    if (this.#searchAgain === null) void this.#search();
    else this.#searchAgain();
    return () => void this.#waiting.delete(waiting);
  }

  /** Searches on every move, and every 250 ms, while callers wait. */
  async #search(): Promise<void> {
    const onMove = (again: () => void) => {
      this.#searchAgain = again;
      return this.#moving.onMove(again);
    };
    await pollUntil({ ...this.#moving, onMove }, Number.POSITIVE_INFINITY, async () => {
      await this.#findChanges().catch(() => undefined); // repeated with the next search
      if (this.#waiting.size > 0) return null;
      this.#searchAgain = null;
      return true;
    });
  }

  async #findChanges(): Promise<void> {
    const waiting = [...this.#waiting];
    const versions = await this.#payments.versions(waiting.map(({ watched }) => watched));
    for (const [n, one] of waiting.entries()) {
      const version = versions[n] as string;
      if (version === one.version) continue;
      one.version = version;
      one.onChange();
    }
  }
}
