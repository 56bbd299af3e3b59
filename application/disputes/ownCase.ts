// Dispute cases as their own tenant sees them: of all others there is none.
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../domain/dispute/decisions.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import type { MedCaseId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Tenant } from '../ports/paymentProvider.ts';

/** Returns the case as its stream has it now; `not_found` when the tenant has none such. */
export const ownCase = async (
  commands: CommandHandler,
  tenant: Tenant,
  id: MedCaseId,
): Promise<MedCase | Rejection> => {
  const { state } = await commands.load(MED_CASE, MED_CASE.stream(id));
  if (state.status === 'absent') return NO_CASE;
  const { accountId, mode } = state.terms;
  return accountId === tenant.accountId && mode === tenant.mode ? state : NO_CASE;
};
