// What the server says of itself.
import { status } from '@grpc/grpc-js';
import { bad, type Check, good, statusOf } from './finding.ts';
import { clusterNodes, serverVersion } from './probes.ts';

const OLDEST_VERSION = '22.10';
const LICENSED_VERSION = '24.10';

const isAtLeast = (version: string, least: string): boolean => {
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [version, least].map((text) =>
    text.split('.').map(Number),
  ) as [number[], number[]];
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
};

export const version: Check = async ({ connection }) => {
  const check = 'event store version';
  let number: string;
  try {
    number = await serverVersion(connection);
  } catch (error) {
    if (statusOf(error) !== status.UNIMPLEMENTED) throw error;
    return bad(check, `the server is too old to tell its version: upgrade it to ${OLDEST_VERSION} or newer`);
  }
  if (!isAtLeast(number, OLDEST_VERSION))
    return bad(
      check,
      `EventStoreDB ${number} gives no positions in stream reads: upgrade it to ${OLDEST_VERSION} or newer`,
    );
  return good(
    check,
    isAtLeast(number, LICENSED_VERSION)
      ? `EventStoreDB ${number}; from ${LICENSED_VERSION} on it is under Kurrent's source-available licence (24.6 and older: BSD-3)`
      : `EventStoreDB ${number}`,
  );
};

export const nodes: Check = async ({ connection }) => {
  const check = 'event store nodes';
  const all = await clusterNodes(connection);
  const leader = all.find(({ isLeader, isAlive }) => isLeader && isAlive);
  const dead = all.filter(({ isAlive }) => !isAlive).map(({ address }) => address);
  if (leader === undefined)
    return bad(check, `none of ${all.length} leads: nothing can be appended; start the missing nodes`);
  if (dead.length > 0)
    return bad(
      check,
      `${dead.join(', ')} of ${all.length} down: start them before another one fails; ${leader.address} leads`,
    );
  return good(check, `${all.length} of ${all.length} alive, ${leader.address} leads`);
};
