// The streams of payers' pages. Beyond their bounds, a page polls every second.
import type { Progress } from '../../application/ports/readModels/progress.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { LiveStatus } from '../kernel/serverContext.ts';
import { type CheckoutStatus, isLive } from './checkout/states.ts';
import { LiveStreams, type StreamBounds } from './liveStreams.ts';

const BOUNDS: StreamBounds = { ofKey: 20, ofAddress: 100, inAll: 5_000, lifetimeMs: 600_000 };

/** Returns whether the status is final. The page stops watching, too. */
const isLast = ({ status }: LiveStatus): boolean => !isLive(status as CheckoutStatus);

export class StatusStreams extends LiveStreams<PaymentId, LiveStatus> {
  constructor(
    progress: Progress,
    find: (ids: readonly PaymentId[]) => Promise<ReadonlyMap<PaymentId, LiveStatus>>,
    bounds: Partial<StreamBounds> = {},
  ) {
    super(progress, {
      ...{ find, isLast, event: 'status', pauseMs: 200, watched: 'charge' },
      // The status, and the expiry, which can appear or move.
      shownOf: (status) => `${status.status} ${status.expires_at}`,
      bounds: { ...BOUNDS, ...bounds },
    });
  }

  /** Returns a stream, 204 if the status is final (browsers then stop reconnecting), or 429 or 503 beyond a bound. */
  answer(id: PaymentId, address: string, status: LiveStatus) {
    return isLast(status) ? ({ status: 204 } as const) : this.open(id, address, status);
  }
}
