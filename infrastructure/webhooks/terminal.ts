// CLI commands of webhooks.

import type { RedriveFilter } from '../../application/ports/redrives.ts';
import { tenantsWithDeadLetters } from '../../application/webhooks/deadLetters.ts';
import { type AskedRedrive, askRedrive, RedriveWorker } from '../../application/webhooks/redrive.ts';
import { StreamMessages } from '../../application/webhooks/streamMessages.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type EndpointId, parsePrefixedId, type Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { EXPECTED, lowerBound, upperBound } from '../../http/kernel/query.ts';
import { deadLetterReads } from '../../projections/webhooks/deadLetters.ts';
import {
  accountIdOf,
  type CliCommand,
  type CliInput,
  type CliOutput,
  type CliWorld,
  UsageError,
} from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';
import { redrives } from '../deliveries/redrives.ts';
import { systemRandomness } from '../system/system.ts';
import { deliveryCommands } from './commands/deliveries.ts';

// --- `dlq redrive`: retries permanently failed deliveries of one account or all (rule W8). This command records the retries in the event
// log, and the running program sends them. If the command is stopped half-way, the running program continues it. ---

const option = ({ options }: CliInput, name: string): string | null => {
  const value = options[name];
  return typeof value === 'string' ? value : null;
};

/** Returns the parsed option, or null if it is not given. Throws UsageError if it is invalid. */
const parsed = <Value>(
  input: CliInput,
  name: string,
  parse: (text: string) => Value | null | undefined,
  what: string,
) => {
  const text = option(input, name);
  if (text === null) return null;
  const value = parse(text);
  if (value === null || value === undefined) throw new UsageError(`--${name} "${text}" is not a valid ${what}`);
  return value;
};

const filterOf = (input: CliInput): RedriveFilter => ({
  endpointId: parsed(
    input,
    'endpoint',
    (text) => parsePrefixedId<EndpointId>(text, WEBHOOK_ENDPOINT.idPrefix),
    'we_ id',
  ),
  eventType: option(input, 'event'),
  createdFrom: parsed<Timestamp>(input, 'created-after', lowerBound, EXPECTED.replace('an ', '')),
  createdTo: parsed<Timestamp>(input, 'created-before', upperBound, EXPECTED.replace('an ', '')),
});

interface Redriven extends Tenant, Omit<AskedRedrive, 'redriveId'> {
  /** How many of `queued` this call retried; a concurrent call retried the rest. */
  readonly sent: number;
}

const redriveTenant = async (
  { storage, commands, accounts, operator, signal }: CliWorld,
  wanted: { readonly tenant: Tenant; readonly filter: RedriveFilter; readonly isDryRun: boolean },
  { progress }: CliOutput,
): Promise<Redriven> => {
  const needs = {
    commands,
    accounts,
    randomness: systemRandomness,
    deadLetters: deadLetterReads(storage.reads),
    redrives: redrives(storage.operations, null),
    messages: new StreamMessages(commands, AGGREGATES),
  };
  const ask = askRedrive({ ...needs, caughtUp: async () => ({ head: null, isCaughtUp: true }) }, false);
  const { redriveId, ...counts } = await ask({ ...wanted, actor: operator, requestId: null });
  const { tenant } = wanted;
  if (redriveId === null) return { ...tenant, ...counts, sent: 0 };
  const worker = new RedriveWorker(needs);
  let sent = 0;
  while (!signal.aborted) {
    const at = await worker.page(redriveId);
    if (at === null) return { ...tenant, ...counts, sent: worker.sent };
    sent = at.requested;
    progress.show(Math.min(1, sent / counts.queued), `${tenant.accountId} ${tenant.mode}: ${sent} of ${counts.queued}`);
  }
  throw new UsageError(`stopped after ${sent} of ${counts.queued}; the running program continues with the rest`);
};

const shown = ({ accountId, mode, matched, queued, sent }: Redriven) => ({
  accountId: ACCOUNT.idPrefix + accountId,
  mode,
  matched,
  queued,
  sent,
});
const HEAD = ['ACCOUNT', 'MODE', 'FAILED', 'QUEUED', 'SENT'];

const redriveCommand: CliCommand = {
  name: 'dlq redrive',
  summary:
    'Retry permanently failed deliveries, of all accounts or those that match; inactive and deleted endpoints are skipped',
  options: {
    account: { description: 'only deliveries of this account (an acct_ id)' },
    endpoint: { description: 'only deliveries to this endpoint (a we_ id)' },
    event: {
      description: 'only deliveries of this event',
      choices: EVENT_CATALOGUE.map(({ event }) => event),
    },
    'created-after': { description: 'only deliveries created at this time or later' },
    'created-before': { description: 'only deliveries created at this time or earlier' },
    'dry-run': { description: 'only count the deliveries', flag: true },
  },
  changes: 'always',
  reads: ['webhookDeliveries'],
  run: async (world, input, output) => {
    const filter = filterOf(input);
    const isDryRun = input.options['dry-run'] === true;
    const account = parsed(input, 'account', accountIdOf, 'account');
    const tenants = await tenantsWithDeadLetters({ deadLetters: deadLetterReads(world.storage.reads) })(account);
    const redriven: Redriven[] = [];
    for (const tenant of tenants) redriven.push(await redriveTenant(world, { tenant, filter, isDryRun }, output));
    const all = redriven.filter(({ matched }) => matched > 0).map(shown);
    const sum = (of: (one: Redriven) => number) => redriven.reduce((total, one) => total + of(one), 0);
    const [matched, queued, sent] = [sum((one) => one.matched), sum((one) => one.queued), sum((one) => one.sent)];
    const cells = all.map((one) => [one.accountId, one.mode, ...[one.matched, one.queued, one.sent].map(String)]);
    return {
      json: { matched, queued, sent, accounts: all },
      text: matched === 0 ? 'no failed deliveries' : (screen: Screen) => table(screen, HEAD, cells),
    };
  },
};

export const commands = [...deliveryCommands, redriveCommand];
