// Orders of the control API and their validation. Amounts are integers of centavos. Times are ISO 8601 texts.
import type { Nature, Person } from './books.ts';
import { FAULT_KINDS, type FaultOrder } from './faults.ts';
import { OPERATIONS } from './operations.ts';

/** Thrown for an order that can’t be carried out. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409;

  constructor(status: 400 | 404 | 409, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Payment {
  /** Default: the amount of the charge. Any other amount also concludes the charge. */
  readonly amount?: number;
  /** The part of the amount that the payer withdrew in cash. */
  readonly withdrawal?: number;
  readonly payer?: Partial<Person>;
  /** Default: now, on the institution’s clock. */
  readonly paidAt?: string;
  readonly note?: string;
  /** Overrides the setting `payer` for this Pix. */
  readonly showPayer?: 'none' | 'full' | 'masked';
}

export interface ChargePayment extends Payment {
  /** Pays even if the charge can no longer be paid, like late, second and stray payments in the real network. */
  readonly force?: boolean;
  /** The owner of the charge. Required if several clients have a charge with this txid. */
  readonly clientId?: string;
}

export interface KeyPayment extends Payment {
  readonly amount: number;
  /** The txid of a static code, if any. */
  readonly txid?: string;
}

export interface ManyPayments {
  readonly count: number;
  readonly amount: number;
  /** The payments are spread evenly over this period, including both ends. */
  readonly from: string;
  readonly to: string;
}

export interface ForeignReturn {
  /** Default: the remaining amount of the Pix. */
  readonly amount?: number;
  readonly nature?: Nature;
  readonly reason?: string;
}

export const DEFAULT_PAYER: Person = { name: 'PAGADOR DE TESTE', document: '99991111140' };

export const amountFrom = (value: unknown, least = 1): number => {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > 999_999_999_999)
    throw new ControlError(400, `"amount" must be an integer of centavos from ${least} to 999999999999.`);
  return value as number;
};
export const timeFrom = (text: string): number => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new ControlError(400, `"${text}" is not a time.`);
  return at;
};

export const isDone = (outcome: unknown): boolean => {
  if (outcome !== 'done' && outcome !== 'refused')
    throw new ControlError(400, '"outcome" must be "done" or "refused".');
  return outcome === 'done';
};

/** Throws ControlError for an unknown operation or kind, or an invalid number. */
export const checkFault = (order: FaultOrder): void => {
  if (order.on !== '*' && !OPERATIONS.includes(order.on))
    throw new ControlError(400, `"on" must be "*" or one of: ${OPERATIONS.join(', ')}.`);
  if (!FAULT_KINDS.includes(order.kind))
    throw new ControlError(400, `"kind" must be one of: ${FAULT_KINDS.join(', ')}.`);
  if (order.when !== undefined && order.when !== 'before' && order.when !== 'after')
    throw new ControlError(400, '"when" must be "before" or "after".');
  for (const name of ['times', 'skip', 'ms', 'retryAfter'] as const) {
    const value = order[name] ?? 0;
    if (!Number.isSafeInteger(value) || value < 0) throw new ControlError(400, `"${name}" must be a positive integer.`);
  }
};
