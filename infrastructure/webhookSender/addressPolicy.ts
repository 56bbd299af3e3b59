// The addresses that deliveries may connect to (rules W5, W6). An IPv6 address must be in the global unicast block and outside its
// special ranges. An IPv4 address must be outside every range of the IANA special-purpose registry (RFC 6890).
import { BlockList, isIP } from 'node:net';

/** Deliveries may connect to `public` always, to `loopback` and `private` if the deployment allows it, and to no other class. */
export type AddressClass =
  | 'public'
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'multicast'
  | 'shared'
  | 'embedded IPv4'
  | 'documentation'
  | 'benchmarking'
  | 'reserved';

type Ranges = readonly (readonly [AddressClass, readonly string[]])[];

// Services that return the machine's credentials to any caller: AWS, Azure, Google, Oracle and others (.169.254), credentials of
// containers and pods (.170.2, .170.23), their time and DNS services, Tencent (.0.23), Alibaba, Oracle, Azure's host agent; over IPv6 AWS,
// Google and Scaleway. They are inside other ranges below, some of which a deployment may allow.
const METADATA_IPV4 = [
  ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32', '169.254.0.23/32'],
  ...['100.100.100.200/32', '192.0.0.192/32', '168.63.129.16/32'],
];
const METADATA_IPV6 = ['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128', 'fe80::a9fe:a9fe/128'];

const IPV4_RANGES: Ranges = [
  ['metadata', METADATA_IPV4],
  ['loopback', ['127.0.0.0/8']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
  ['link-local', ['169.254.0.0/16']],
  ['shared', ['100.64.0.0/10']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']],
  ['benchmarking', ['198.18.0.0/15']],
  ['multicast', ['224.0.0.0/4']],
  // 192.88.99.0/24 is the 6to4 relay.
  ['reserved', ['0.0.0.0/8', '192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4']],
];

// Read in this order, so that a range inside another comes first. Any address not listed is reserved.
const IPV6_RANGES: Ranges = [
  ['metadata', METADATA_IPV6],
  ['loopback', ['::1/128']],
  ['reserved', ['::/128', '100::/64', 'fec0::/10']],
  // Compatible, mapped, translated, NAT64, 6to4, Teredo: each would reach an unchecked IPv4 address.
  [
    'embedded IPv4',
    ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'],
  ],
  ['private', ['fc00::/7']],
  ['link-local', ['fe80::/10']],
  ['multicast', ['ff00::/8']],
  ['documentation', ['2001:db8::/32', '3fff::/20']],
  ['benchmarking', ['2001:2::/48']],
  ['reserved', ['2001::/23']],
  ['public', ['2000::/3']],
];

// One list per line and family, because a BlockList also compares IPv4 addresses with mapped IPv6 ranges and vice versa.
const compile = (ranges: Ranges, family: 'ipv4' | 'ipv6'): readonly (readonly [AddressClass, BlockList])[] =>
  ranges.map(([addressClass, cidrs]) => {
    const list = new BlockList();
    for (const cidr of cidrs) {
      const [network = '', prefix = ''] = cidr.split('/');
      list.addSubnet(network, Number(prefix), family);
    }
    return [addressClass, list] as const;
  });

const IPV4 = compile(IPV4_RANGES, 'ipv4');
const IPV6 = compile(IPV6_RANGES, 'ipv6');

/** Returns the class of an address, given without brackets. Other text, and addresses with a zone id, are `reserved`. */
export function classifyAddress(address: string): AddressClass {
  const family = isIP(address);
  if (family === 4) return IPV4.find(([, list]) => list.check(address, 'ipv4'))?.[0] ?? 'public';
  if (family === 6 && !address.includes('%')) {
    return IPV6.find(([, list]) => list.check(address, 'ipv6'))?.[0] ?? 'reserved';
  }
  return 'reserved';
}

/** Returns whether deliveries may connect. `privateAllowed`: a test endpoint in a deployment with `WEBHOOK_ALLOW_PRIVATE=true`. */
export function mayDial(address: string, privateAllowed: boolean): boolean {
  const addressClass = classifyAddress(address);
  return addressClass === 'public' || (privateAllowed && (addressClass === 'loopback' || addressClass === 'private'));
}
