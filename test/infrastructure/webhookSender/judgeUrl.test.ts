import { expect } from 'chai';
import fc from 'fast-check';
import type { WebhookSender } from '../../../application/ports/webhookSender.ts';
import { openWebhookSender } from '../../../infrastructure/webhookSender/webhookSender.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const SHAPE = { message: 'url must be an absolute http or https URL of at most 2048 characters' };
const USERINFO = { message: 'url must not contain a user name or password' };
const SCHEME = { message: 'url must use https: live events are sent over https only' };
const PORT = { message: 'url must use the default port of its scheme or a port of at least 1024' };
const HOST = { message: 'url must have a valid host name' };
const address = (addressClass: string) => ({
  message: `url must not point to ${addressClass === 'embedded IPv4' ? 'an' : 'a'} ${addressClass} address`,
});

const dotted = (bytes: readonly number[]): string => bytes.join('.');
const asNumber = (bytes: readonly number[]): number => bytes.reduce((value, byte) => value * 256 + byte, 0);
const hexPair = (bytes: readonly number[], at: number): string => ((bytes[at]! << 8) | bytes[at + 1]!).toString(16);

/** An IPv4 address in the notations that URL parsers, resolvers and libc read as the same number. */
const IPV4_NOTATIONS: Readonly<Record<string, (bytes: readonly number[]) => string>> = {
  dotted,
  'dotted with a trailing dot': (bytes) => `${dotted(bytes)}.`,
  decimal: (bytes) => String(asNumber(bytes)),
  hex: (bytes) => `0x${asNumber(bytes).toString(16)}`,
  'dotted hex': (bytes) => bytes.map((byte) => `0X${byte.toString(16)}`).join('.'),
  octal: (bytes) => `0${asNumber(bytes).toString(8)}`,
  'dotted octal': (bytes) => bytes.map((byte) => `0${byte.toString(8).padStart(4, '0')}`).join('.'),
  'two parts': (bytes) => `${bytes[0]}.${asNumber(bytes.slice(1))}`,
  'three parts': (bytes) => `${bytes[0]}.${bytes[1]}.${asNumber(bytes.slice(2))}`,
  'percent-encoded': (bytes) => [...dotted(bytes)].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  'full-width digits': (bytes) =>
    dotted(bytes).replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
};

const IPV6_EMBEDDINGS: Readonly<Record<string, (bytes: readonly number[]) => string>> = {
  mapped: (bytes) => `[::ffff:${dotted(bytes)}]`,
  'mapped hex': (bytes) => `[::FFFF:${hexPair(bytes, 0)}:${hexPair(bytes, 2)}]`,
  'mapped in full': (bytes) => `[0:0:0:0:0:ffff:${hexPair(bytes, 0)}:${hexPair(bytes, 2)}]`,
  compatible: (bytes) => `[::${dotted(bytes)}]`,
  translated: (bytes) => `[::ffff:0:${dotted(bytes)}]`,
  NAT64: (bytes) => `[64:ff9b::${dotted(bytes)}]`,
  'local NAT64': (bytes) => `[64:ff9b:1::${dotted(bytes)}]`,
  '6to4': (bytes) => `[2002:${hexPair(bytes, 0)}:${hexPair(bytes, 2)}::1]`,
  Teredo: (bytes) => `[2001:0:${hexPair(bytes, 0)}:${hexPair(bytes, 2)}::1]`,
};

const inRange = (network: readonly [number, number, number, number], prefix: number): fc.Arbitrary<number[]> =>
  fc.integer({ min: 0, max: 2 ** (32 - prefix) - 1 }).map((offset) => {
    const value = asNumber(network) + offset;
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
  });

const PRIVATE = [
  inRange([10, 0, 0, 0], 8),
  inRange([127, 0, 0, 0], 8),
  inRange([172, 16, 0, 0], 12),
  inRange([192, 168, 0, 0], 16),
];
const NEVER = [
  inRange([0, 0, 0, 0], 8),
  inRange([100, 64, 0, 0], 10),
  inRange([169, 254, 0, 0], 16),
  inRange([192, 0, 0, 0], 24),
  inRange([192, 0, 2, 0], 24),
  inRange([192, 88, 99, 0], 24),
  inRange([198, 18, 0, 0], 15),
  inRange([198, 51, 100, 0], 24),
  inRange([203, 0, 113, 0], 24),
  inRange([224, 0, 0, 0], 4),
  inRange([240, 0, 0, 0], 4),
];
const anyPublic = fc.oneof(
  inRange([1, 0, 0, 0], 8),
  inRange([8, 0, 0, 0], 8),
  inRange([44, 0, 0, 0], 8),
  inRange([200, 0, 0, 0], 7),
);

describe('judgeUrl', () => {
  let open: WebhookSender;
  let strict: WebhookSender;
  before(() => {
    open = openWebhookSender({ allowPrivate: true });
    strict = openWebhookSender({ allowPrivate: false });
  });
  after(async () => {
    await open.close();
    await strict.close();
  });

  const ACCEPTED_BY_BOTH = [
    'https://example.com',
    'https://example.com/',
    'HTTPS://EXAMPLE.COM/Hook?a=b&c',
    'https://example.com:443/x',
    'https://example.com:1024/',
    'https://example.com:65535/',
    'https://example.com./x',
    'https://example.com/x#part',
    'https://example.com/a@b',
    'https://example.com/?a@b',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://under_score.example.com/',
    'https://1.1.1.1/',
    'https://[2606:4700::1111]/x',
    'https://localhost/',
    `https://example.com/${'a'.repeat(2_048 - 20)}`,
  ];
  for (const url of ACCEPTED_BY_BOTH) {
    it(`accepts ${url.slice(0, 60)}`, () => {
      expect(strict.judgeUrl(url, 'live')).to.equal(null);
      expect(strict.judgeUrl(url, 'test')).to.equal(null);
    });
  }

  const REFUSED_BY_BOTH: readonly (readonly [string, { message: string }])[] = [
    ['', SHAPE],
    ['example.com', SHAPE],
    ['/hook', SHAPE],
    ['//example.com/', SHAPE],
    ['https:', SHAPE],
    ['https://', SHAPE],
    ['https:///example.com', SHAPE],
    ['https:example.com', SHAPE],
    ['https:/example.com', SHAPE],
    ['ftp://example.com/', SHAPE],
    ['file:///etc/passwd', SHAPE],
    ['javascript:alert(1)', SHAPE],
    ['wss://example.com/', SHAPE],
    [' https://example.com/', SHAPE],
    ['https://example.com/ ', SHAPE],
    ['https://example.com/a b', SHAPE],
    ['https://exam\nple.com/', SHAPE],
    ['https://example.com/\t', SHAPE],
    ['https://example.com\\@127.0.0.1/', SHAPE],
    ['https://example.com/\0', SHAPE],
    ['https://a%00b/', SHAPE],
    ['https://[fe80::1%25eth0]/', SHAPE],
    ['https://[fe80::1%eth0]/', SHAPE],
    ['https://[::1', SHAPE],
    ['https://1.2.3.4.5/', SHAPE],
    ['https://4294967296/', SHAPE],
    ['https://1.2.3.08/', SHAPE],
    ['https://256.1.1.1/', SHAPE],
    ['https://example.com:65536/', SHAPE],
    ['https://example.com:x/', SHAPE],
    [`https://example.com/${'a'.repeat(2_048 - 19)}`, SHAPE],
    ['https://user@example.com/', USERINFO],
    ['https://user:pass@example.com/', USERINFO],
    ['https://@example.com/', USERINFO],
    ['https://:@example.com/', USERINFO],
    ['https://example.com:0/', PORT],
    ['https://example.com:22/', PORT],
    ['https://example.com:80/', PORT],
    ['https://example.com:1023/', PORT],
    ['https://./', HOST],
    ['https://a..b/', HOST],
    ['https://127.0.0.1../', HOST],
    [`https://${'a'.repeat(64)}.example/`, HOST],
    [`https://${'abc.'.repeat(64)}de/`, HOST],
    ['https://169.254.169.254/latest/meta-data', address('metadata')],
    ['https://0xa9fea9fe/latest/meta-data', address('metadata')],
    ['https://2852039166/', address('metadata')],
    ['https://[fd00:ec2::254]/latest/meta-data', address('metadata')],
    ['https://[FD00:0EC2:0:0:0:0:0:254]/', address('metadata')],
    ['https://[::ffff:169.254.169.254]/', address('embedded IPv4')],
    ['https://[64:ff9b::a9fe:a9fe]/', address('embedded IPv4')],
    ['https://100.100.100.200/', address('metadata')],
    ['https://169.254.1.1/', address('link-local')],
    ['https://[fe80::1]/', address('link-local')],
    ['https://[::]/', address('reserved')],
    ['https://0/', address('reserved')],
    ['https://0.0.0.0/', address('reserved')],
    ['https://[::ffff:127.0.0.1]/', address('embedded IPv4')],
    ['https://[64:ff9b::7f00:1]/', address('embedded IPv4')],
    ['https://[ff02::1]/', address('multicast')],
    ['https://[fec0::1]/', address('reserved')],
    ['https://100.64.0.1/', address('shared')],
    ['https://203.0.113.7/', address('documentation')],
    ['https://255.255.255.255/', address('reserved')],
  ];
  for (const [url, verdict] of REFUSED_BY_BOTH) {
    it(`rejects ${JSON.stringify(url).slice(0, 60)} in every mode`, () => {
      expect(strict.judgeUrl(url, 'live')).to.deep.equal(verdict);
      expect(strict.judgeUrl(url, 'test')).to.deep.equal(verdict);
      expect(open.judgeUrl(url, 'test')).to.deep.equal(verdict);
    });
  }

  it('accepts http only for test endpoints, and only on its own default port', () => {
    for (const url of ['http://example.com/', 'http://example.com:80/', 'http://example.com:8080/']) {
      expect(open.judgeUrl(url, 'live')).to.deep.equal(SCHEME);
      expect(strict.judgeUrl(url, 'test')).to.equal(null);
    }
    expect(strict.judgeUrl('http://example.com:443/', 'test')).to.deep.equal(PORT);
  });

  it('accepts loopback and private addresses only for test endpoints, and only if the deployment allows them', () => {
    const local = [
      ['127.0.0.1', 'loopback'],
      ['[::1]', 'loopback'],
      ['10.0.0.1', 'private'],
      ['[fd00::1]', 'private'],
    ] as const;
    for (const [host, addressClass] of local) {
      expect(open.judgeUrl(`https://${host}:3000/`, 'test'), host).to.equal(null);
      expect(strict.judgeUrl(`https://${host}:3000/`, 'test'), host).to.deep.equal(address(addressClass));
      expect(open.judgeUrl(`https://${host}:3000/`, 'live'), host).to.deep.equal(address(addressClass));
    }
  });

  it('returns a new object each time', () => {
    expect(strict.judgeUrl('https://10.0.0.1/', 'live')).to.deep.equal(strict.judgeUrl('https://10.0.0.1/', 'live'));
    expect(strict.judgeUrl('https://10.0.0.1/', 'live')).to.not.equal(strict.judgeUrl('https://10.0.0.1/', 'live'));
  });

  for (const [notation, write] of Object.entries(IPV4_NOTATIONS)) {
    it(`rejects every forbidden IPv4 address in ${notation} notation`, () => {
      fc.assert(
        fc.property(fc.oneof(...NEVER, ...PRIVATE), (bytes) => {
          expect(open.judgeUrl(`https://${write(bytes)}/`, 'live')?.message).to.match(/^url must not point to a /);
          expect(strict.judgeUrl(`http://${write(bytes)}/`, 'test')?.message).to.match(/^url must not point to a /);
        }),
      );
      fc.assert(
        fc.property(fc.oneof(...NEVER), (bytes) => {
          expect(open.judgeUrl(`http://${write(bytes)}/`, 'test')?.message).to.match(/^url must not point to a /);
        }),
      );
    });

    it(`accepts public IPv4 addresses in ${notation} notation`, () => {
      fc.assert(
        fc.property(anyPublic, (bytes) => {
          expect(strict.judgeUrl(`https://${write(bytes)}/`, 'live')).to.equal(null);
        }),
      );
    });
  }

  for (const [embedding, write] of Object.entries(IPV6_EMBEDDINGS)) {
    it(`rejects every IPv4 address embedded in IPv6 as ${embedding}`, () => {
      fc.assert(
        fc.property(fc.oneof(...NEVER, ...PRIVATE, anyPublic), (bytes) => {
          expect(strict.judgeUrl(`https://${write(bytes)}/`, 'live')).to.not.equal(null);
          // The first compatible addresses are `::` and `::1` themselves, which occur only in the range 0.0.0.0/8.
          if (bytes[0] !== 0)
            expect(open.judgeUrl(`https://${write(bytes)}/`, 'test')).to.deep.equal(address('embedded IPv4'));
        }),
      );
    });
  }

  it('never throws, and returns a message of one line', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}`),
        ),
        (url) => {
          for (const mode of ['test', 'live'] as const) {
            const verdict = strict.judgeUrl(url, mode);
            if (verdict !== null) expect(verdict.message).to.match(/^url must [\x20-\x7e]+$/);
          }
        },
      ),
    );
  });
});
