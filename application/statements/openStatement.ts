// Opens the statement of a month: its facts, and functions that read from the ledger when they are called.
import { ACCOUNT, NO_ACCOUNT } from '../../domain/account/account.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { MerchantSums } from '../../domain/kernel/journal.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Movement, StatementFacts, StatementMonth } from '../../domain/presentation/statement.ts';
import { KeyedCount } from '../core/keyedCount.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { MonthSummary, StatementViews } from '../ports/readModels/statements.ts';

export interface StatementNeeds extends UseCaseNeeds {
  readonly views: { readonly statements: StatementViews };
}

export interface Statement {
  readonly facts: StatementFacts;
  /** Hash of the merchant's logo, or null. */
  readonly logo: string | null;
  readonly opening: () => Promise<MerchantSums>;
  readonly movements: () => AsyncIterable<readonly Movement[]>;
  readonly summary: (movementsMax: number) => Promise<MonthSummary>;
  /** Frees its slot. */
  readonly close: () => void;
}

/** Concurrent statements of an account in each process, because a long one takes seconds of work. */
const OF_ACCOUNT_MAX = 2;
const TOO_MANY = reject(
  'rate_limited',
  `Too many statements at once: at most ${OF_ACCOUNT_MAX} per account. Wait until one ends.`,
);

/** Returns the statement, which the caller must close. Rejects a month that has not begun, and too many concurrent statements. */
export const openStatement = ({ commands, accounts, views }: StatementNeeds) => {
  const open = new KeyedCount();
  return async (tenant: Tenant, month: StatementMonth, currency: string): Promise<Statement | Rejection> => {
    const { accountId, mode } = tenant;
    const { state } = await commands.loadRecent(ACCOUNT, ACCOUNT.stream(accountId));
    if (state.status !== 'open') return NO_ACCOUNT;
    const now = await accounts.now(accountId, mode);
    if (month.from > now)
      return reject('invalid_filter', `The month ${month.month} has not begun yet.`, { param: 'month' });
    if (open.of(accountId) >= OF_ACCOUNT_MAX) return TOO_MANY;
    const { merchantName, taxId, logo } = state.settings;
    const isProvisional = now <= month.to;
    return {
      facts: { ...month, ...tenant, merchantName, merchantTaxId: taxId, currency, now, isProvisional },
      logo,
      opening: () => views.statements.opening(tenant, currency, month),
      movements: () => views.statements.movements(tenant, currency, month),
      summary: (movementsMax) => views.statements.summary(tenant, currency, month, movementsMax),
      close: open.add(accountId),
    };
  };
};
