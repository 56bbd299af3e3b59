// Disables and enables users, on behalf of an operator. Every request reads the user's stream, so both take effect in every process at
// once.
import type { UserId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import {
  disableUser as decideDisabling,
  enableUser as decideEnabling,
  type KnownUser,
  USER,
  type UserEvent,
  type UserState,
} from '../../domain/user/user.ts';
import { type Changer, metadataForChange } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCaseNeeds.ts';
import type { Sessions } from '../ports/sessions.ts';

interface Needs extends UseCaseNeeds {
  readonly sessions: Sessions;
}

type Decide = typeof decideDisabling | typeof decideEnabling;

const record = async (
  { commands, accounts }: Needs,
  userId: UserId,
  decide: Decide,
  by: Changer,
): Promise<KnownUser | Rejection> => {
  const stream = USER.stream(userId);
  const { state } = await commands.load(USER, stream);
  const metadata = metadataForChange(by, state.status === 'absent' ? null : state.accountId, userId);
  const done = await commands.execute<UserState, UserEvent, unknown>(
    USER,
    stream,
    decide(accounts.realNow()),
    metadata,
  );
  return isRejection(done) ? done : (done.state as KnownUser);
};

/** Disables a user and removes the user's sessions. Rejects with `not_found`. If already disabled, only removes sessions. */
export const disableUser =
  (needs: Needs) =>
  async (userId: UserId, by: Changer): Promise<KnownUser | Rejection> => {
    const disabled = await record(needs, userId, decideDisabling, by);
    if (!isRejection(disabled)) await needs.sessions.endOfUser(userId);
    return disabled;
  };

/** Enables a user. Old sessions are removed first, so that none of them works again. Rejects with `not_found`. */
export const enableUser =
  (needs: Needs) =>
  async (userId: UserId, by: Changer): Promise<KnownUser | Rejection> => {
    const { state } = await needs.commands.load(USER, USER.stream(userId));
    if (state.status === 'disabled') await needs.sessions.endOfUser(userId);
    return record(needs, userId, decideEnabling, by);
  };
