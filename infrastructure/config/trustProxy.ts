// Which proxies TRUST_PROXY names, as Express reads the variable, and whether they are so many that anybody can be one.
import { isIP, isIPv4 } from 'node:net';
import { groupsOf } from '../../http/kernel/address.ts';

const BITS = 128;
const GROUP_BITS = 16n;
const IPV4_BITS = 32;
/** Where IPv4 lies in IPv6, written so: an address of one kind is compared with ranges of the other, too. */
const IPV4 = '::ffff:0:0';

const numberOf = (address: string): bigint =>
  groupsOf(isIPv4(address) ? `::ffff:${address}` : address).reduce(
    (number, group) => (number << GROUP_BITS) | BigInt(group),
    0n,
  );

/** The first address, and the one behind the last. */
type Range = readonly [bigint, bigint];
const rangeOf = (address: string, prefix: number): Range => {
  const size = 1n << BigInt(BITS - prefix);
  const first = (numberOf(address) / size) * size;
  return [first, first + size];
};

const ALL: readonly Range[] = [rangeOf(IPV4, BITS - IPV4_BITS), rangeOf('2000::', 3)];
/** No deployment has proxies on one of so many addresses. */
const SHARE_MAX = 16n;

const isNamed = (text: string): boolean => /^(loopback|linklocal|uniquelocal)$/.test(text);

/** null: not an address, or one with the length of its prefix. An IPv4 address is written as such. */
const parseRange = (text: string): Range | null => {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const bits = { 4: IPV4_BITS, 6: BITS }[isIP(address)];
  if (bits === undefined || Number(prefix ?? bits) > bits) return null;
  const isMapped = bits === BITS && numberOf(address) >> 32n === numberOf(IPV4) >> 32n;
  return isMapped ? null : rangeOf(address, BITS - bits + Number(prefix ?? bits));
};

/** How many addresses of `all` the ranges cover together. */
const covered = (ranges: readonly Range[], [from, to]: Range): bigint => {
  let count = 0n;
  let behind = from;
  for (const [first, end] of ranges.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [start, stop] = [first > behind ? first : behind, end < to ? end : to];
    if (stop <= start) continue;
    count += stop - start;
    behind = stop;
  }
  return count;
};

/** Returns what is wrong with a list of proxies, or null. A list that covers a sixteenth of IPv4 or of IPv6's public space is wrong. */
export const proxyListProblem = (list: string): string | null => {
  const parts = list.split(',').map((part) => part.trim());
  const ranges = parts.filter((part) => !isNamed(part)).map(parseRange);
  if (ranges.includes(null))
    return `must be false, a number of proxies from 1 to 99, or a list of addresses, not "${list}"`;
  return ALL.some((all) => covered(ranges as readonly Range[], all) * SHARE_MAX >= all[1] - all[0])
    ? `must not trust a large part of the internet: list the addresses of your own proxies, not "${list}"`
    : null;
};
