// Reads must be up to date, or they fail with 503 (architecture §6): never a 404 for an acknowledged object, never stale data, as far as
// this process has heard of writes. An object that isn’t found is looked up again after asking the log.

import { type ReadModelName, ReadModelsBehind, StreamParked } from '../../application/ports/readModels/progress.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { AccountId, MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { Caller } from './callers.ts';
import type { KeyContext } from './route.ts';
import type { GatewayServices } from './serverContext.ts';

/** Longest wait for a read to reflect earlier writes. */
const CATCH_UP_MS = 1_000;

/** Waits until the read models reflect all known events, of all accounts or one. Throws ReadModelsBehind if they don't within a second. */
export const assertCaughtUp = async (
  { progress }: Pick<GatewayServices, 'progress'>,
  models: readonly ReadModelName[],
  account?: AccountId,
): Promise<void> => {
  if (!(await progress.caughtUp(CATCH_UP_MS, models, account)))
    throw new ReadModelsBehind(`${models.join(', ')} are behind`);
};

/**
 * Handles a read. If it finds nothing, another process may just have written the object, so it is handled again when the read models have
 * passed the log's head. Throws ReadModelsBehind if they don't within a second.
 */
export const findingWritten = async <Result extends object>(
  { caughtUp }: Pick<GatewayServices, 'caughtUp'>,
  models: readonly ReadModelName[],
  account: AccountId | undefined,
  handle: () => Promise<Result>,
): Promise<Result> => {
  const result = await handle();
  if (!isRejection(result) || result.code !== 'not_found') return result;
  const waits = await Promise.all(models.map((model) => caughtUp(model, CATCH_UP_MS, account)));
  if (!waits.every(({ isCaughtUp }) => isCaughtUp))
    throw new ReadModelsBehind(`${models.join(', ')} are behind the log`);
  return handle();
};

type Asking = Pick<KeyContext, 'services'> & { readonly caller: Pick<Caller, 'tenant'> | null };

/** Throws StreamParked if the payment's read model is stale. `caller` is null for a payer, who knows the id. */
export const assertShown = ({ services, caller }: Asking, id: PaymentId): void => {
  if (services.parked.has('payments', PAYMENT.stream(id), caller?.tenant ?? null))
    throw new StreamParked('the read model of this payment is stale');
};

/** Throws StreamParked if the dispute case's read model is stale. For reads of a case and commands on it. */
export const assertShownCase = ({ services, caller }: Asking, id: MedCaseId): void => {
  if (services.parked.has('disputes', MED_CASE.stream(id), caller?.tenant ?? null))
    throw new StreamParked('the read model of this dispute case is stale');
};

/** Throws StreamParked if a command's effects on the payment would show neither in the payment nor in the wallet. */
export const assertFollowed = (ask: Asking, id: PaymentId): void => {
  assertShown(ask, id);
  if (ask.services.parked.has('wallet', PAYMENT.stream(id), ask.caller?.tenant ?? null))
    throw new StreamParked('the wallet does not reflect this payment');
};
