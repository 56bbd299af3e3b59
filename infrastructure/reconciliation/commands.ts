// Commands that compare provider connections, report their days, and resolve findings (rule V4).

import type { Finding } from '../../application/ports/providerBooks.ts';
import type { ReconciliationReport, ReportedFinding } from '../../application/ports/readModels/providerMovements.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { csvField, csvTextField } from '../../domain/presentation/csv.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import { accepted, byOf, type CliCommand, UsageError } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';
import { connectionIdOf } from '../providers/commands.ts';

/** How long `reconcile run` waits for the running program. */
const WAIT_MS = 60_000;
const LISTED_MAX = 1_000;

const CONNECTION = { description: 'only this provider connection' } as const;
const brl = (amount: number | null): string => (amount === null ? '' : amountText(amount, 'BRL'));

const run: CliCommand = {
  name: 'reconcile run',
  summary: `Compare provider connections now; the running program calls the institutions, and the command waits up to ${WAIT_MS / 1_000} s for it`,
  options: { connection: CONNECTION },
  changes: 'always',
  run: async ({ platform }, { options: { connection } }) => {
    const id = connection === undefined ? null : connectionIdOf(String(connection));
    const done = accepted(await platform.runReconciliation(id, WAIT_MS));
    const stateOf = (comparedAt: string | null, retryAt: string | null): string => {
      if (comparedAt !== null && comparedAt >= done.requestedAt) return 'compared';
      return retryAt === null ? 'waiting for the running program' : `no answer, next attempt at ${retryAt}`;
    };
    return {
      json: done,
      text: (screen: Screen) =>
        done.connections.length === 0
          ? 'no provider connection is enabled or draining'
          : table(
              screen,
              ['CONNECTION', 'STATE'],
              done.connections.map((one) => [one.connection, stateOf(one.comparedAt, one.retryAt)]),
            ),
      isBad: !done.isDone,
    };
  },
};

const SUMS = ['opening', 'received', 'returned', 'paidOut', 'fees', 'closing', 'difference'] as const;

const reportText = (screen: Screen, report: ReconciliationReport): string => {
  const sums = table(
    screen,
    ['LINE', 'BRL'],
    SUMS.map((name) => [name, brl(report[name])]),
  );
  if (report.findings.length === 0) return `${sums}\nno findings`;
  const head = ['KIND', 'END-TO-END ID', 'CHARGE', 'EXPECTED', 'FOUND', 'RESOLVED'];
  const rows = report.findings.map(({ kind, endToEndId, charge, expected, found, resolved }) => [
    ...[kind, endToEndId ?? '', charge ?? '', brl(expected), brl(found)],
    resolved === undefined ? '' : `${resolved.by}${resolved.reason === null ? '' : `: ${resolved.reason}`}`,
  ]);
  return `${sums}\n\n${table(screen, head, rows)}`;
};

const cell = (value: string | number | null | undefined): string =>
  typeof value === 'string' ? csvTextField(value) : csvField(String(value ?? ''));
const CSV_HEAD = [
  'line',
  'amount',
  'endToEndId',
  'txid',
  'charge',
  'expected',
  'found',
  'resolvedAt',
  'resolvedBy',
  'reason',
];
const csvLine = ({ kind, endToEndId, txid, charge, expected, found, resolved }: ReportedFinding) => [
  ...[kind, (found ?? 0) - (expected ?? 0), endToEndId, txid, charge, expected, found],
  ...[resolved?.at, resolved?.by, resolved?.reason],
];
/** One line for each sum, and one for each finding with its part of the difference. Amounts are in centavos. */
const csvOf = (report: ReconciliationReport): string =>
  [CSV_HEAD, ...SUMS.map((name) => [name, report[name]]), ...report.findings.map(csvLine)]
    .map((line) => CSV_HEAD.map((_, n) => cell(line[n])).join(','))
    .join('\n');

const report: CliCommand = {
  name: 'reconcile report',
  summary:
    'Show the statement of a civil day of São Paulo: the institution’s figures, ours, and every difference; for today, run reconcile run first',
  options: {
    connection: { description: 'the provider connection', required: true },
    day: { description: 'yyyy-mm-dd', required: true },
    csv: { description: 'print CSV, with amounts in centavos', flag: true },
  },
  reads: ['providerMovements'],
  run: async ({ platform }, { options: { connection, day, csv }, isJson }) => {
    if (csv === true && isJson) throw new UsageError('--csv and --json can’t be combined');
    const found = accepted(await platform.reportReconciliation(connectionIdOf(String(connection)), String(day)));
    return { json: found, text: csv === true ? csvOf(found) : (screen: Screen) => reportText(screen, found) };
  },
};

const HEAD = ['FINDING', 'AT', 'CONNECTION', 'KIND', 'REFERENCE', 'CHARGE', 'EXPECTED', 'FOUND', 'RESOLVED'];
const chargeOf = ({ paymentId }: Finding): string | null => (paymentId === null ? null : PREFIX.charge + paymentId);
const cells = (one: Finding): readonly string[] => [
  ...[one.id, one.at, PROVIDER_CONNECTION.idPrefix + one.connectionId, one.kind, one.reference, chargeOf(one) ?? ''],
  ...[brl(one.expected), brl(one.found), one.resolved?.by ?? ''],
];
const jsonOf = (one: Finding) => ({
  id: one.id,
  connection: PROVIDER_CONNECTION.idPrefix + one.connectionId,
  day: one.day,
  at: one.at,
  kind: one.kind,
  endToEndId: one.endToEndId,
  txid: one.txid,
  charge: chargeOf(one),
  reference: one.reference,
  expected: one.expected,
  found: one.found,
  firstSeenAt: one.firstSeenAt,
  lastSeenAt: one.lastSeenAt,
  ...(one.resolved !== null && { resolved: one.resolved }),
});

const list: CliCommand = {
  name: 'reconcile list',
  summary: `List unresolved findings, newest first (at most ${LISTED_MAX})`,
  options: { connection: CONNECTION, all: { description: 'resolved findings, too', flag: true } },
  run: async ({ platform }, { options: { connection, all } }) => {
    const connectionId = connection === undefined ? null : connectionIdOf(String(connection));
    const { findings, total } = await platform.listFindings({ connectionId, all: all === true }, LISTED_MAX);
    return {
      json: { findings: findings.map(jsonOf), total },
      text: (screen: Screen) => (findings.length === 0 ? 'no findings' : table(screen, HEAD, findings.map(cells))),
    };
  },
};

const resolve: CliCommand = {
  name: 'reconcile resolve',
  summary: 'Resolve a finding; it stays in the report with the reason',
  args: [{ name: 'finding' }],
  options: { reason: { description: 'reason, 1 to 500 characters; no personal data', required: true } },
  changes: 'always',
  run: async (world, { args, options: { reason } }) => {
    const done = accepted(await world.platform.resolveFinding(args[0] as string, String(reason), byOf(world)));
    return { json: jsonOf(done), text: (screen: Screen) => table(screen, HEAD, [cells(done)]) };
  },
};

export const reconciliationCommands: readonly CliCommand[] = [run, report, list, resolve];
