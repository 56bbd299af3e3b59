// What could be wrong with EventStoreDB, in plain words (README.md). On connections of its own, so that it also finds out why a log
// can't be opened.
import type { Diagnosis } from '../diagnosis.ts';
import { clock, reading, size } from './accessFindings.ts';
import { type Connection, Connector } from './connection.ts';
import { readConnectionString } from './connectionString.ts';
import { translated } from './failures.ts';
import { bad, type Check } from './finding.ts';
import { Reader } from './reader.ts';
import { nodes, version } from './serverFindings.ts';
import { TIMINGS, type Timings } from './timings.ts';

const CHECKS: readonly { readonly name: string; readonly check: Check }[] = [
  { name: 'event store version', check: version },
  { name: 'event store nodes', check: nodes },
  { name: 'event store access', check: reading },
  { name: 'event store clock', check: clock },
  { name: 'event store appends', check: size },
];

/** Writes one event into a stream that keeps one. Throws BadConnectionString; whatever else goes wrong is a finding. */
export const diagnoseEventStoreDb = async (
  connectionString: string,
  timings: Timings = TIMINGS,
): Promise<readonly Diagnosis[]> => {
  const settings = readConnectionString(connectionString);
  const connector = new Connector(settings);
  const reader = new Reader({ connector, timings, onError: () => undefined });
  let connection: Connection;
  try {
    connection = await connector.connect(timings.connectMs);
  } catch (error) {
    reader.close();
    const { kind, message } = translated(error, false);
    const says = kind === 'refused' ? message : `${message}: does it run, and does EVENTSTORE_URL name it?`;
    return [bad('event store connection', says)];
  }
  const findings: Diagnosis[] = [];
  for (const { name, check } of CHECKS) {
    const finding = await check({ settings, connection, reader }).catch((error: unknown) =>
      bad(name, translated(error, false).message),
    );
    findings.push(finding);
  }
  connection.close();
  reader.close();
  return findings;
};
