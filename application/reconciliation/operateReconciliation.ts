// Operators' use cases for reconciliation: run it, report a day, list and resolve findings (rule V4).
import { civilDayBounds } from '../../domain/kernel/civilDay.ts';
import { type ConnectionId, PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PROVIDER_CONNECTION } from '../../domain/providerConnection/aggregate.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import { NO_CONNECTION } from '../../domain/providerConnection/decisions.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Changer } from '../core/eventMetadata.ts';
import { reasonRefused } from '../core/operatorsReason.ts';
import type { Discrepancy, Finding, FindingFilter, FindingReads, ReconciliationRuns } from '../ports/providerBooks.ts';
import type {
  ProviderMovementReads,
  ReconciliationReport,
  ReportedFinding,
} from '../ports/readModels/providerMovements.ts';
import type { ConnectionReads } from '../ports/readModels/providers.ts';
import type { Stopwatch } from '../ports/system.ts';

export interface OperateReconciliationNeeds {
  readonly commands: Pick<CommandHandler, 'load'>;
  readonly connections: Pick<ConnectionReads, 'all'>;
  readonly runs: ReconciliationRuns;
  readonly findingReads: FindingReads;
  readonly movementReads: ProviderMovementReads;
  readonly stopwatch: Stopwatch;
}

/** When the latest completed comparison of a connection started; null if none did. */
export interface ReconciledConnection {
  readonly connection: string;
  readonly comparedAt: Timestamp | null;
  /** The institution gives no answer; it is asked again at this time. */
  readonly retryAt: Timestamp | null;
}
/** A request and its progress. */
export interface RequestedRun {
  readonly requestedAt: Timestamp;
  /** Whether all comparisons have ended. Otherwise the running program continues them. */
  readonly isDone: boolean;
  readonly connections: readonly ReconciledConnection[];
}

const publicId = (id: ConnectionId): string => PROVIDER_CONNECTION.idPrefix + id;
/** Pause between two looks at the progress. */
const POLL_MS = 200;

export const operateReconciliation = (needs: OperateReconciliationNeeds) => ({
  /**
   * Requests a comparison of a connection, or (null) of all, by the running program, and waits up to `waitMs` for its end. Rejects with
   * `not_found` if the connection makes no calls.
   */
  runReconciliation: (connectionId: ConnectionId | null, waitMs: number) => run(needs, connectionId, waitMs),
  /**
   * Returns the statement of a civil day of São Paulo, also of a removed connection. Rejects, in this order, with `invalid_request` if the
   * day does not exist, and with `not_found` if the connection never existed.
   */
  reportReconciliation: (connectionId: ConnectionId, day: string) => report(needs, connectionId, day),
  /** Returns the name of a connection, also of a removed one. Rejects with `not_found`. */
  nameConnection: async (connectionId: ConnectionId): Promise<{ readonly name: string } | Rejection> =>
    termsOf(needs, connectionId),
  /** Returns at most `limit` findings, newest first. `total` also counts those beyond the limit. */
  listFindings: (filter: FindingFilter, limit: number) => needs.findingReads.list(filter, limit),
  /** Resolves a finding; it stays in the report. Rejects with `not_found` and `invalid_request`. */
  resolveFinding: (id: string, reason: string, by: Changer) => resolve(needs, id, reason, by),
});

const run = async (
  { connections, runs, stopwatch }: OperateReconciliationNeeds,
  connectionId: ConnectionId | null,
  waitMs: number,
): Promise<RequestedRun | Rejection> => {
  const ids = (await connections.all())
    .filter(({ status }) => status === 'enabled' || status === 'draining')
    .map(({ terms }) => terms.connectionId);
  if (connectionId !== null && !ids.includes(connectionId))
    return reject('not_found', 'No enabled or draining provider connection has this id.');
  const wanted = connectionId === null ? ids : [connectionId];
  const states = () => Promise.all(wanted.map(async (id) => ({ id, ...(await runs.stateOf(id)) })));
  // A request ends the pauses after earlier failures.
  const earlier = new Map((await states()).map(({ id, retryAt }) => [id, retryAt]));
  const requestedAt = await runs.request(connectionId);
  const end = stopwatch.elapsedMs() + waitMs;
  for (;;) {
    const found = (await states()).map(({ id, comparedAt, retryAt }) => ({
      ...{ id, comparedAt },
      retryAt: retryAt === earlier.get(id) ? null : retryAt,
    }));
    const isDone = found.every(({ comparedAt }) => comparedAt !== null && comparedAt >= requestedAt);
    const hasEnded = found.every(
      ({ comparedAt, retryAt }) => (comparedAt ?? '') >= requestedAt || (retryAt ?? '') > requestedAt,
    );
    if (hasEnded || stopwatch.elapsedMs() >= end)
      return {
        requestedAt,
        isDone,
        connections: found.map(({ id, comparedAt, retryAt }) => ({ connection: publicId(id), comparedAt, retryAt })),
      };
    await stopwatch.pause(POLL_MS);
  }
};

const termsOf = async (
  { commands }: OperateReconciliationNeeds,
  connectionId: ConnectionId,
): Promise<ConnectionTerms | Rejection> => {
  const { state } = await commands.load(PROVIDER_CONNECTION, PROVIDER_CONNECTION.stream(connectionId));
  return state.status === 'absent' ? NO_CONNECTION : state.terms;
};

const report = async (
  needs: OperateReconciliationNeeds,
  connectionId: ConnectionId,
  day: string,
): Promise<ReconciliationReport | Rejection> => {
  const bounds = civilDayBounds(day, 'America/Sao_Paulo');
  if (bounds === null) return reject('invalid_request', 'The day must be a date as yyyy-mm-dd.', { param: 'day' });
  const terms = await termsOf(needs, connectionId);
  if (isRejection(terms)) return terms;
  const { findingReads, movementReads } = needs;
  const found = await movementReads.discrepancies(connectionId, bounds);
  const current = new Map(found.map((one) => [one.id, one]));
  const stored = await findingReads.ofDay(connectionId, day);
  const sums = await movementReads.sums(connectionId, day);
  const resolved = new Map(stored.flatMap((one) => (one.resolved === null ? [] : [[one.id, one] as const])));
  const findings = [
    ...[...current.values()].map((one) => reported(one, resolutionOf(resolved.get(one.id), one))),
    // Findings that a comparison no longer shows agree by now.
    ...[...resolved.values()].filter(({ id }) => !current.has(id)).map((one) => reported(agreed(one), one.resolved)),
  ];
  return { connection: publicId(connectionId), day, ...sums, findings };
};

/** A resolution is kept as long as the figures don't change. */
const resolutionOf = (stored: Finding | undefined, { expected, found }: Discrepancy): Finding['resolved'] =>
  stored !== undefined && stored.expected === expected && stored.found === found ? stored.resolved : null;

const agreed = (one: Finding): Finding => {
  const amount = one.expected ?? one.found;
  return { ...one, expected: amount, found: amount };
};

const reported = (one: Discrepancy, resolved: Finding['resolved']): ReportedFinding => ({
  kind: one.kind,
  endToEndId: one.endToEndId,
  txid: one.txid,
  charge: one.paymentId === null ? null : PREFIX.charge + one.paymentId,
  expected: one.expected,
  found: one.found,
  ...(resolved !== null && { resolved }),
});

const resolve = async (
  { findingReads }: OperateReconciliationNeeds,
  id: string,
  reason: string,
  { actor }: Changer,
): Promise<Finding | Rejection> => {
  const text = reason.trim();
  const refused = reasonRefused(text);
  if (refused !== null) return refused;
  const resolved = await findingReads.resolve(id, actor, text);
  return resolved ?? reject('not_found', 'No unresolved finding has this id.');
};
