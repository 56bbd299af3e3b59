// Checks the proxies in TRUST_PROXY, in Express's syntax, and rejects lists that cover a large part of the internet.
import { isIP, isIPv4 } from 'node:net';
import { groupsOf } from '../../http/kernel/address.ts';

const BITS = 128;
const GROUP_BITS = 16n;
const IPV4_BITS = 32;
/** IPv4 addresses are mapped into IPv6, so that both kinds can be compared. */
const IPV4 = '::ffff:0:0';

const numberOf = (address: string): bigint =>
  groupsOf(isIPv4(address) ? `::ffff:${address}` : address).reduce(
    (number, group) => (number << GROUP_BITS) | BigInt(group),
    0n,
  );

/** The first address, and the one after the last. */
type Range = readonly [bigint, bigint];
const rangeOf = (address: string, prefix: number): Range => {
  const size = 1n << BigInt(BITS - prefix);
  const first = (numberOf(address) / size) * size;
  return [first, first + size];
};

const ALL: readonly Range[] = [rangeOf(IPV4, BITS - IPV4_BITS), rangeOf('2000::', 3)];
/** The largest accepted share of the address space is less than 1/16. */
const SHARE_MAX = 16n;

const isNamed = (text: string): boolean => /^(loopback|linklocal|uniquelocal)$/.test(text);

/** Returns the range of an address or CIDR block, or null if the text is neither or is an IPv4-mapped IPv6 address. */
const parseRange = (text: string): Range | null => {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const bits = { 4: IPV4_BITS, 6: BITS }[isIP(address)];
  if (bits === undefined || Number(prefix ?? bits) > bits) return null;
  const isMapped = bits === BITS && numberOf(address) >> 32n === numberOf(IPV4) >> 32n;
  return isMapped ? null : rangeOf(address, BITS - bits + Number(prefix ?? bits));
};

/** Returns how many addresses of `all` the ranges cover together. */
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

/** Returns the problem of a list of proxies, or null. The list must cover less than 1/16 of IPv4 and of public IPv6. */
export const proxyListProblem = (list: string): string | null => {
  const parts = list.split(',').map((part) => part.trim());
  const ranges = parts.filter((part) => !isNamed(part)).map(parseRange);
  if (ranges.includes(null))
    return `must be false, the number of proxies from 1 to 99, or a list of addresses, not "${list}"`;
  return ALL.some((all) => covered(ranges as readonly Range[], all) * SHARE_MAX >= all[1] - all[0])
    ? `must not trust a large part of the internet: list the addresses of your own proxies, not "${list}"`
    : null;
};
