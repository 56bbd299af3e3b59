// What is read must be up to date, or it is 503 (architecture §6): never a 404 of something acknowledged, never a payment as it last stood.

import { type ReadModelName, ReadModelsBehind, StreamParked } from '../../application/ports/readModels/progress.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { Caller } from './callers.ts';
import type { KeyContext } from './route.ts';
import type { GatewayServices } from './serverContext.ts';

/** Worst case of read-your-writes. */
const CATCH_UP_MS = 1_000;

/** Throws ReadModelsBehind when they have not passed what is known to be in the log within a second. */
export const assertCaughtUp = async (
  { progress }: Pick<GatewayServices, 'progress'>,
  models: readonly ReadModelName[],
): Promise<void> => {
  if (!(await progress.caughtUp(CATCH_UP_MS, models))) throw new ReadModelsBehind(`${models.join(', ')} are behind`);
};

type Asking = Pick<KeyContext, 'services'> & { readonly caller: Pick<Caller, 'tenant'> | null };

/** For reads of one payment. Throws StreamParked. `caller` null: a payer, who knows the id. */
export const assertShown = ({ services, caller }: Asking, id: PaymentId): void => {
  if (services.parked.has('payments', PAYMENT.stream(id), caller?.tenant ?? null))
    throw new StreamParked('the payment is shown as it last stood');
};

/** For reads of one dispute case, and commands on it. Throws StreamParked. */
export const assertShownCase = ({ services, caller }: Asking, id: MedCaseId): void => {
  if (services.parked.has('disputes', MED_CASE.stream(id), caller?.tenant ?? null))
    throw new StreamParked('the dispute case is shown as it last stood');
};

/** For commands on a payment: what they lead to would show neither in it nor in the wallet. Throws StreamParked. */
export const assertFollowed = (ask: Asking, id: PaymentId): void => {
  assertShown(ask, id);
  if (ask.services.parked.has('wallet', PAYMENT.stream(id), ask.caller?.tenant ?? null))
    throw new StreamParked('the wallet does not follow the payment');
};
