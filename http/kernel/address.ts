// The address that limits count a request by: an IPv4 address, or an IPv6 /64, the size of one customer's network. Also recognizes
// loopback addresses.
import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

const GROUPS = 8;
const IPV4_PREFIX = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Some proxies append the port. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\]):\d+$/i;

/** Returns the eight 16-bit groups of an IPv6 address. The zone is ignored; an IPv4 address at the end gives two groups. */
export const groupsOf = (ip: string): readonly number[] => {
  const text = ip
    .replace(/%.*$/, '')
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
      [a * 256 + +b, c * 256 + +d].map((group) => group.toString(16)).join(':'),
    );
  const [before = [], after] = text.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(after === undefined ? 0 : GROUPS - before.length - after.length).fill('0');
  return [...before, ...zeros, ...(after ?? [])].map((group) => Number.parseInt(group, 16));
};

const hex = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':');

/** Returns the IPv4 address of IPv4 and IPv4-mapped addresses, the /64 of other IPv6 addresses, or null if `ip` is not an address. */
export const counted = (ip: string): string | null => {
  const bare = WITH_PORT.exec(ip)?.slice(1).find(Boolean) ?? ip;
  const mapped = IPV4_PREFIX.exec(bare)?.[1] ?? bare;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(bare)) return null;
  const groups = groupsOf(bare);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  return `${hex(groups.slice(0, 4))}::/64`;
};

/** Returns the client address that trusted proxies report (TRUST_PROXY), or else the socket's address. */
export const addressOf = (req: Request): string =>
  counted(req.ip ?? '') ?? counted(req.socket.remoteAddress ?? '') ?? 'unknown';

/** Returns the network around an address (IPv4 /24, IPv6 /48), for logs: it doesn't identify a person. */
export const networkOf = (address: string): string => {
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24');
  return address.endsWith('::/64') ? `${address.split(':').slice(0, 3).join(':')}::/48` : address;
};

const LOOPBACK =
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/i;

/** Returns whether `host`, without a port, is this machine. IPv6 addresses may have brackets and may be in the URL parser's form. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);
