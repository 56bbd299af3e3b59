// POST /v1/sandbox/settings (rule X3): changes how the sandbox behaves for the account's test keys.
import { ACCOUNT, type SandboxSettings } from '../../domain/account/account.ts';
import { changeSandboxSettings as change } from '../../domain/account/settings.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { AccessLeases } from '../ports/accessLeases.ts';

interface SandboxSettingsNeeds extends UseCaseNeeds {
  readonly leases: Pick<AccessLeases, 'announce'>;
}

/** Changes the switches named in `changes`. Returns all switches with their new values, which then hold in every process. */
export const changeSandboxSettings =
  ({ commands, accounts, leases }: SandboxSettingsNeeds) =>
  async (accountId: AccountId, changes: SandboxSettings, requester: Actor): Promise<SandboxSettings | Rejection> => {
    const mode = 'test' as const;
    const metadata = metadataForRequest(requester, { accountId, mode }, accountId);
    const decide = change(changes, await accounts.now(accountId, mode), accounts.declared.switches);
    const done = await commands.execute(ACCOUNT, ACCOUNT.stream(accountId), decide, metadata, { isLimited: true });
    if (isRejection(done)) return done;
    // Announced even if nothing changed: an earlier, identical change may have crashed before its announcement.
    if (Object.keys(changes).length > 0) await leases.announce(accountId);
    return done.reply;
  };
