// Loads dispute cases of a tenant. Other tenants' cases count as not found.
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../domain/dispute/decisions.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import type { MedCaseId, Tenant } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { CommandHandler } from '../core/commandHandler.ts';

/** Returns the case from its stream. Rejects with `not_found` if it belongs to another tenant or doesn't exist. */
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
