// Commands that list and resolve callbacks of connections.
import {
  CALLBACK_OUTCOMES,
  type CallbackOutcome,
  isCallbackId,
  type ListedCallback,
} from '../../application/ports/providerCallbacks.ts';
import { type ConnectionId, parseId } from '../../domain/kernel/ids.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { accepted, type CliCommand, UsageError } from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';

const LISTED_MAX = 1_000;
const REASON_MAX = 500;

/** Returns the id of a connection. Throws UsageError if the text is not one. */
const connectionIdOf = (text: string): ConnectionId => {
  const id = parseId<ConnectionId>(text, PROVIDER_CONNECTION.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not a connection id: use a pc_ id or the 26 characters alone`);
  return id;
};

const HEAD = ['CALLBACK', 'RECEIVED', 'CONNECTION', 'TIMES', 'OUTCOME', 'FINDINGS'];
const cells = ({ id, receivedAt, connectionId, times, outcome, findings, resolved }: ListedCallback) => [
  id,
  receivedAt,
  PROVIDER_CONNECTION.idPrefix + connectionId,
  String(times),
  `${outcome ?? 'waits'}${resolved === null ? '' : ' (resolved)'}`,
  findings.map(({ reference, because }) => `${reference} ${because}`).join(', '),
];
const jsonOf = ({ connectionId, ...callback }: ListedCallback) => ({
  ...callback,
  connectionId: PROVIDER_CONNECTION.idPrefix + connectionId,
});

const list: CliCommand = {
  name: 'provider callbacks',
  summary: `List callbacks of institutions that wait for an operator, newest first (at most ${LISTED_MAX})`,
  args: [],
  options: {
    connection: { description: 'only callbacks of this connection' },
    outcome: {
      description: 'callbacks with this outcome instead, resolved ones included',
      choices: CALLBACK_OUTCOMES,
    },
  },
  run: async (world, { options: { connection, outcome } }) => {
    const filter = {
      connectionId: connection === undefined ? null : connectionIdOf(String(connection)),
      outcome: outcome === undefined ? null : (String(outcome) as CallbackOutcome),
    };
    const { callbacks, total } = await world.platform.listCallbacks(filter, LISTED_MAX);
    return {
      json: { callbacks: callbacks.map(jsonOf), total },
      text: (screen: Screen) =>
        callbacks.length === 0 ? 'no such callback' : table(screen, HEAD, callbacks.map(cells)),
    };
  },
};

const resolve: CliCommand = {
  name: 'provider resolve-callback',
  summary: 'Record that an operator has looked into a callback; moves no money',
  args: [{ name: 'callback' }],
  options: { reason: { description: `what you found, 1 to ${REASON_MAX} characters`, required: true } },
  changes: 'always',
  run: async (world, { args: [id = ''], options: { reason } }) => {
    const text = String(reason).trim();
    if (text === '' || text.length > REASON_MAX)
      throw new UsageError(`--reason must have 1 to ${REASON_MAX} characters`);
    if (!isCallbackId(id)) throw new UsageError(`"${id}" is not the number of a callback`);
    const done = accepted(await world.platform.resolveCallback(null, id, world.operator, text));
    return { json: jsonOf(done), text: (screen: Screen) => table(screen, HEAD, [cells(done)]) };
  },
};

export const callbackCommands: readonly CliCommand[] = [list, resolve];
