// What a request id meant: the support's first question when a merchant sends one.
import { type RecordedEvent, UnknownPosition } from '../../application/ports/eventStore.ts';
import type { LoggedRequest } from '../../application/ports/requestLog.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { eventsOfRequest } from '../operations/requestEvents.ts';
import { requestLogReads } from '../operations/requestLog.ts';
import { type CliCommand, UsageError } from './command.ts';
import { eventTable, shown as shownEvent } from './events.ts';
import { type Screen, table } from './output.ts';

/** Clients may send one id with many requests: the newest of them are shown. */
const LISTED_MAX = 20;

const shown = ({ id, accountId, userId, logPosition, ...request }: LoggedRequest) => ({
  id: PREFIX.requestLog + id,
  accountId: accountId === null ? null : PREFIX.account + accountId,
  userId: userId === null ? null : PREFIX.user + userId,
  ...request,
});

const HEAD = ['BEGAN', 'ACCOUNT', 'MODE', 'BY', 'STATUS', 'MS', 'REQUEST'];
const cells = (request: LoggedRequest): readonly string[] => {
  const { createdAt, accountId, mode, keyFingerprint, userId, status, durationMs, method, path } = request;
  const by = keyFingerprint === null ? `${PREFIX.user}${userId}` : `key ${keyFingerprint}`;
  const account = accountId === null ? 'platform' : PREFIX.account + accountId;
  return [createdAt, account, mode ?? 'both', by, String(status), String(durationMs), `${method} ${path}`];
};

const show: CliCommand = {
  name: 'requests show',
  summary: `What a request id meant: the requests of the last 30 days that bore it (the newest ${LISTED_MAX}), and the events that they caused`,
  args: [{ name: 'request' }],
  options: {},
  run: async ({ storage, signal }, { args }) => {
    const requests = await requestLogReads(storage.reads).withRequestId(args[0] as string, LISTED_MAX);
    const events: RecordedEvent[] = [];
    try {
      for (const request of requests.toReversed())
        events.push(...(await eventsOfRequest(storage.store, request, signal)));
    } catch (error) {
      if (!(error instanceof UnknownPosition)) throw error;
      throw new UsageError(
        'the log was moved or put back since: what the request caused can’t be found from its position',
      );
    }
    const text = (screen: Screen) =>
      [table(screen, HEAD, requests.map(cells)), events.length === 0 ? 'no events' : eventTable(screen, events)].join(
        '\n\n',
      );
    return {
      json: { requests: requests.map(shown), events: events.map(shownEvent) },
      text: requests.length === 0 ? 'no request of the last 30 days had this id, with a right key or token' : text,
      isBad: requests.length === 0,
    };
  },
};

export const requestCommands: readonly CliCommand[] = [show];
