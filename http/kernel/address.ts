// Where a request comes from, as limits count it: one IPv4 address, or one IPv6 network of a customer's size (/64); and which addresses
// are this machine's own.
import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

const GROUPS = 8;
const IPV4_PREFIX = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Some proxies write the port too. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-f:.]+)\]):\d+$/i;

/** The 16-bit groups of an IPv6 address, without its zone; an IPv4 address at the end counts for two. */
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

/** IPv4 and IPv4-mapped addresses by themselves, IPv6 by its /64; null: it is no address. */
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

/** The address that the deployment's proxies vouch for (TRUST_PROXY), else the socket's. */
export const addressOf = (req: Request): string =>
  counted(req.ip ?? '') ?? counted(req.socket.remoteAddress ?? '') ?? 'unknown';

/** The network around an address, which names nobody: for the log. */
export const networkOf = (address: string): string => {
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24');
  return address.endsWith('::/64') ? `${address.split(':').slice(0, 3).join(':')}::/48` : address;
};

const LOOPBACK =
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/i;

/** `host` without a port; an IPv6 address with or without brackets, as text or as the URL parser writes it. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host);
