import { expect } from 'chai';
import { type AddressClass, classifyAddress, mayDial } from '../../../infrastructure/webhookSender/addressPolicy.ts';

const CLASSES: readonly (readonly [AddressClass, readonly string[]])[] = [
  [
    'public',
    [
      '1.1.1.1',
      '8.8.8.8',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
      '172.15.255.255',
      '172.32.0.0',
      '192.0.1.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2606:4700::1111',
      '2001:4860:4860::8888',
      '2003::1',
      '3ffe:ffff::1',
    ],
  ],
  ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
  [
    'private',
    [
      '10.0.0.0',
      '10.255.255.255',
      '172.16.0.0',
      '172.31.255.255',
      '192.168.0.0',
      '192.168.255.255',
      'fc00::',
      'fd00:ec1:ffff::',
      'fd00:ec3::',
      'fd20:ce::253',
      'fd00:42::41',
    ],
  ],
  [
    'metadata',
    [
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      '169.254.0.23',
      '100.100.100.200',
      '192.0.0.192',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd00:ec2:0:0:0:0:0:254',
      'FD00:EC2::254',
      'fd20:ce::254',
      'fd00:42::42',
      'fe80::a9fe:a9fe',
    ],
  ],
  ['link-local', ['169.254.0.0', '169.254.169.253', '169.254.255.255', 'fe80::1', 'febf::1']],
  ['shared', ['100.64.0.0', '100.100.100.199', '100.127.255.255']],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1']],
  ['benchmarking', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
  [
    'embedded IPv4',
    [
      '::ffff:8.8.8.8',
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '64:ff9b::169.254.169.254',
      '64:ff9b::6464:64c8',
      '2002:a9fe:a9fe::',
      '::ffff:a00:1',
      '::8.8.8.8',
      '::ffff:0:1.2.3.4',
      '64:ff9b::8.8.8.8',
      '64:ff9b:1::1',
      '64:ff9b:1:ffff::1',
      '2002:7f00:1::',
      '2001::1',
      '2001:0:7f00:1::1',
    ],
  ],
  [
    'reserved',
    [
      '0.0.0.0',
      '0.255.255.255',
      '192.0.0.191',
      '192.88.99.1',
      '240.0.0.0',
      '255.255.255.255',
      '::',
      '100::1',
      'fec0::1',
      '2001:1::1',
      '2001:10::1',
      '2001:20::1',
      '5f00::1',
      '4000::1',
      '64:ff9a::1',
      '1::1',
      'fe00::1',
    ],
  ],
  ['reserved', ['fe80::1%eth0', '::1%lo', '2606:4700::1111%1', '[::1]', '127.1', '0x7f000001', 'localhost', '']],
];

describe('classifyAddress', () => {
  for (const [addressClass, addresses] of CLASSES) {
    for (const address of addresses) {
      it(`'${address}' is ${addressClass}`, () => {
        expect(classifyAddress(address)).to.equal(addressClass);
      });
    }
  }
});

describe('mayDial', () => {
  it('allows only public addresses if private ones are not allowed', () => {
    for (const [addressClass, addresses] of CLASSES) {
      for (const address of addresses) expect(mayDial(address, false), address).to.equal(addressClass === 'public');
    }
  });

  it('also allows loopback and private addresses if allowed, and no others', () => {
    const allowed = new Set<AddressClass>(['public', 'loopback', 'private']);
    for (const [addressClass, addresses] of CLASSES) {
      for (const address of addresses) expect(mayDial(address, true), address).to.equal(allowed.has(addressClass));
    }
  });
});
