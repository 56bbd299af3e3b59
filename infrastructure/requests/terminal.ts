// Finds the requests and events behind a request id that a merchant sends to support.

import type { LoggedRequest } from '../../application/ports/requestLog.ts';
import { REQUESTS_SHOWN_MAX } from '../../application/requests/capability.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { USER } from '../../domain/user/user.ts';
import { type CliCommand, UsageError } from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';
import { eventTable, shown as shownEvent } from '../operations/commands/events.ts';

const shown = ({ id, accountId, userId, logPosition, ...request }: LoggedRequest) => ({
  id: PREFIX.requestLog + id,
  accountId: accountId === null ? null : ACCOUNT.idPrefix + accountId,
  userId: userId === null ? null : USER.idPrefix + userId,
  ...request,
});

const HEAD = ['BEGAN', 'ACCOUNT', 'MODE', 'BY', 'STATUS', 'MS', 'REQUEST'];
const cells = (request: LoggedRequest): readonly string[] => {
  const { createdAt, accountId, mode, keyFingerprint, userId, status, durationMs, method, path } = request;
  const by = keyFingerprint === null ? `${USER.idPrefix}${userId}` : `key ${keyFingerprint}`;
  const account = accountId === null ? 'platform' : ACCOUNT.idPrefix + accountId;
  return [createdAt, account, mode ?? 'both', by, String(status), String(durationMs), `${method} ${path}`];
};

const show: CliCommand = {
  name: 'requests show',
  summary: `Show the requests of the last 30 days with a request id (the newest ${REQUESTS_SHOWN_MAX}), and the events that they caused`,
  args: [{ name: 'request' }],
  run: async (world, { args }) => {
    const { requests, events } = await world.platform.findRequest(args[0] as string, world.signal);
    if (events === null)
      throw new UsageError(
        'the log was migrated or restored after the request, so its events can’t be found by position',
      );
    const text = (screen: Screen) =>
      [table(screen, HEAD, requests.map(cells)), events.length === 0 ? 'no events' : eventTable(screen, events)].join(
        '\n\n',
      );
    return {
      json: { requests: requests.map(shown), events: events.map(shownEvent) },
      text: requests.length === 0 ? 'no authenticated request of the last 30 days had this id' : text,
      isBad: requests.length === 0,
    };
  },
};

export const commands: readonly CliCommand[] = [show];
