// POST /v1/sandbox/charges/{id}/pay (decisions X1): a payer's bank pays, through the same notifications and processes as live.
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { type Minor, toMinor } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, later, type Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { exists } from '../../domain/payment/payment.ts';
import { type SettleOutcome, settleReceipt } from '../../domain/payment/settle.ts';
import { makeEndToEndId } from '../../domain/pix/endToEndId.ts';
import { SANDBOX_PEOPLE } from '../../domain/pix/sandboxPeople.ts';
import { taxIdOf } from '../../domain/pix/taxId.ts';
import type { Payer } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../accounts.ts';
import { PAYMENT } from '../aggregates.ts';
import type { CommandHandler } from '../commandHandler.ts';
import type { Tenant } from '../ports/paymentProvider.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';

export interface SandboxPayment {
  readonly amount?: number;
  /** `document: null`: the bank names none. Left out: the customer's, when valid, else a fictitious person's. */
  readonly payer?: { readonly name?: string; readonly document?: string | null };
  readonly end_to_end_id?: string;
  /** The payment time lies after the expiry, whatever the bank would say. */
  readonly late?: boolean;
}

/** `sent`: the Pix is under way. The others are final. */
export type SandboxPayResult =
  /** `expected`: what the settlement will make of it, unless something comes in between. */
  | { readonly kind: 'sent'; readonly endToEndId: string; readonly expected: SettleOutcome }
  | { readonly kind: 'duplicate'; readonly endToEndId: string }
  | { readonly kind: 'refused' };

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly bank: SandboxBankPort;
  /** 11 characters of `[A-Za-z0-9]`. */
  readonly randomSuffix: () => string;
}

/** The fictitious bank of the sandbox's payers. */
const SANDBOX_ISPB = '99999004';

export const payInSandbox =
  ({ commands, accounts, bank, randomSuffix }: Needs) =>
  async (tenant: Tenant, id: PaymentId, wish: SandboxPayment): Promise<SandboxPayResult | Rejection> => {
    const { state } = await commands.load(PAYMENT, streamName.payment(id));
    if (!isOwn(state, tenant)) return reject('not_found', 'There is no such charge.');
    const { charge } = state;
    const now = await accounts.now(tenant.accountId, tenant.mode);
    if (charge.status === 'requested' || charge.status === 'failed') return { kind: 'refused' };
    const isOver = charge.status === 'expired' || (state.transaction.status === 'none' && now >= charge.pix.expiresAt);
    if (isOver && !wish.late) return { kind: 'refused' };
    const endToEndId = wish.end_to_end_id ?? makeEndToEndId({ ispb: SANDBOX_ISPB, at: now, suffix: randomSuffix() });
    const receipt = {
      endToEndId,
      amount: wish.amount === undefined ? charge.terms.amount : (toMinor(wish.amount) as Minor),
      payer: payerOf(state, wish.payer),
      paidAt: wish.late ? lateTime(now, charge.pix.expiresAt) : now,
    };
    const isNew = await bank.pay(tenant, id, charge.pix.txid, receipt);
    if (!isNew) return { kind: 'duplicate', endToEndId };
    const { fees, holdDays } = (await accounts.get(tenant.accountId)).settings;
    const expected = settleReceipt({ receipt, fees, holdDays: holdDays.PIX, returnId: '', at: now })(state);
    return { kind: 'sent', endToEndId, expected: isRejection(expected) ? 'duplicate' : expected.reply };
  };

const isOwn = (state: Parameters<typeof exists>[0], tenant: Tenant): state is ExistingPayment =>
  exists(state) && state.charge.terms.accountId === tenant.accountId && state.charge.terms.mode === tenant.mode;

const lateTime = (now: Timestamp, expiresAt: Timestamp): Timestamp => later(now, addSeconds(expiresAt, 1));

const payerOf = ({ charge }: ExistingPayment, wish: SandboxPayment['payer']): Payer => {
  const someone = SANDBOX_PEOPLE[0] as { name: string; document: string };
  const own = charge.terms.customer.document === null ? null : taxIdOf(charge.terms.customer.document);
  const usual = own === null ? someone : { name: charge.terms.customer.name ?? someone.name, document: own };
  if (wish === undefined) return usual;
  const document =
    wish.document === undefined ? usual.document : wish.document === null ? null : taxIdOf(wish.document);
  return { name: wish.name ?? usual.name, document };
};
