// How rate limits normalize the address of a request (http/kernel/address.ts).
import { expect } from 'chai';
import type { Request } from 'express';
import fc from 'fast-check';
import { addressOf, networkOf } from '../../../http/kernel/address.ts';

const from = (ip: string | undefined, remoteAddress = '198.51.100.1') =>
  addressOf({ ip, socket: { remoteAddress } } as unknown as Request);

describe('the address that rate limits count', () => {
  const rows: readonly (readonly [ip: string, counted: string, network: string])[] = [
    ['203.0.113.7', '203.0.113.7', '203.0.113.0/24'],
    ['127.0.0.1', '127.0.0.1', '127.0.0.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113.0/24'],
    ['::FFFF:203.0.113.7', '203.0.113.7', '203.0.113.0/24'],
    ['::ffff:cb00:7107', '203.0.113.7', '203.0.113.0/24'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7', '203.0.113.0/24'],
    ['203.0.113.7:4711', '203.0.113.7', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['::', '0:0:0:0::/64', '0:0:0::/48'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64', '64:ff9b:0::/48'],
  ];
  for (const [ip, counted, network] of rows)
    it(`counts ${ip} as ${counted}, in network ${network}`, () => {
      expect([from(ip), networkOf(from(ip))]).to.deep.equal([counted, network]);
    });
  it('is the socket’s address if the proxy names no valid one', () => {
    for (const ip of [undefined, '', 'unknown', '_hidden', 'localhost', '1.2.3', '2001:db8'])
      expect(from(ip)).to.equal('198.51.100.1');
    expect(addressOf({ ip: undefined, socket: {} } as unknown as Request)).to.equal('unknown');
  });
  it('is the same for a whole /64 and differs between /64s', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const counted = from(ip);
        if (!counted.endsWith('::/64')) return;
        const prefix = counted.slice(0, -'::/64'.length);
        expect(from(`${prefix}:1:2:3:4`)).to.equal(counted);
        expect(from(`${prefix}::`)).to.equal(counted);
        const [first = '', ...rest] = prefix.split(':');
        const other = [(Number.parseInt(first, 16) ^ 1).toString(16), ...rest].join(':');
        expect(from(`${other}:1:2:3:4`)).not.to.equal(counted);
      }),
    );
  });
});
