// The sandbox bank's decision on money that leaves the wallet: a refund (rule X3) or a payout (rule Y6).
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import type { KeyContext } from '../../kernel/route.ts';
import { VISIBLE_MS } from './sandboxSchema.ts';

/** The longest wait for running work before each attempt to decide. */
const AT_REST_MS = 250;

interface Decided<View> {
  /** Decides, or returns null if the bank doesn't have the order yet. `isAtRest`: no work of the account is running. */
  readonly decide: (isAtRest: boolean) => Promise<'decided' | Rejection | null>;
  readonly find: () => Promise<View | null>;
  readonly isShown: (view: View) => boolean;
  /** The response if reads don't know the object. */
  readonly missing: Rejection;
}

/** Decides once the order has reached the bank. Responds with 200 when reads show the decision, or with 202 after VISIBLE_MS. */
export const decideAtBank = async <View extends object>(
  { caller: { tenant }, services }: Pick<KeyContext, 'caller' | 'services'>,
  { decide, find, isShown, missing }: Decided<View>,
) => {
  let isDecided = false;
  const look = async (): Promise<View | Rejection | null> => {
    if (!isDecided) {
      const done = await decide(await services.whenIdle(tenant.accountId, AT_REST_MS));
      if (done !== 'decided') return done;
      isDecided = true;
    }
    const view = await find();
    return view !== null && isShown(view) ? view : null;
  };
  const seen = await services.untilSeen(VISIBLE_MS, look);
  if (isRejection(seen)) return seen;
  if (seen !== null) return { status: 200 as const, body: seen };
  const current = await find();
  return current === null ? missing : { status: 202 as const, body: current };
};
