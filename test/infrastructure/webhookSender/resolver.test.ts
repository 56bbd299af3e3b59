import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorCode } from '../../../infrastructure/webhookSender/failure.ts';
import {
  type AddressResolver,
  cachedResolver,
  dnsResolver,
  hostsFile,
  hostsFirst,
  parseHosts,
} from '../../../infrastructure/webhookSender/resolver.ts';
import { type NameServer, openNameServer } from './nameServer.ts';

const codeOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'resolved', errorCode);

/** Returns a resolver that records its queries. The n-th query gets the n-th answer; an Error rejects it. */
function scripted(...answers: (readonly string[] | Error)[]): AddressResolver & { asked: string[]; closed: number } {
  const asked: string[] = [];
  const resolver = {
    asked,
    closed: 0,
    async resolve(name: string) {
      const answer = answers[asked.push(name) - 1];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often');
      return answer;
    },
    close() {
      resolver.closed += 1;
    },
  };
  return resolver;
}

/** More names than one tenant can resolve at once (workers.ts). */
const SILENT = Array.from({ length: 100 }, (_, n) => `silent-${n}.example`);

describe('dnsResolver', () => {
  let server: NameServer;
  let queries: Resolver;
  let resolver: AddressResolver;
  before(async () => {
    server = await openNameServer({
      'both.example': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] },
      'four.example': { a: ['192.0.2.4'] },
      'six.example': { aaaa: ['2001:db8:0:0:0:0:0:6'] },
      'none.example': {},
      'silent.example': null,
      ...Object.fromEntries(SILENT.map((name) => [name, null])),
    });
    queries = new Resolver({ timeout: 5_000, tries: 1 });
    queries.setServers([server.address]);
    resolver = dnsResolver(queries);
  });
  after(async () => {
    queries.cancel();
    await server.close();
  });

  it('returns IPv4 addresses first, then IPv6', async () => {
    const addresses = await resolver.resolve('both.example');
    expect([...addresses.slice(0, 2)].sort()).to.deep.equal(['192.0.2.1', '192.0.2.2']);
    expect(addresses.slice(2)).to.deep.equal(['2001:db8::1']);
  });

  it('accepts a name with only one family', async () => {
    expect(await resolver.resolve('four.example')).to.deep.equal(['192.0.2.4']);
    expect(await resolver.resolve('six.example')).to.deep.equal(['2001:db8::6']);
  });

  it('rejects with the server’s error code', async () => {
    expect(await codeOf(resolver.resolve('none.example'))).to.equal('ENODATA');
    expect(await codeOf(resolver.resolve('unknown.example'))).to.equal('ENOTFOUND');
  });

  it('lets a silent name delay no others, and cancels it on close', async () => {
    const silent = Array.from({ length: 50 }, () => codeOf(resolver.resolve('silent.example')));
    expect(await resolver.resolve('four.example')).to.deep.equal(['192.0.2.4']);
    resolver.close();
    expect(new Set(await Promise.all(silent))).to.deep.equal(new Set(['ECANCELLED']));
  });

  it('answers within a second while 100 silent names are pending, and after they timed out', async () => {
    const impatient = new Resolver({ timeout: 1_500, tries: 1 });
    impatient.setServers([server.address]);
    const shared = dnsResolver(impatient);
    let timedOut = 0;
    const silent = Promise.all(SILENT.map((name) => codeOf(shared.resolve(name)).finally(() => timedOut++)));
    const tookMs: number[] = [];
    const ask = async () => {
      const started = performance.now();
      expect(await shared.resolve('four.example')).to.deep.equal(['192.0.2.4']);
      tookMs.push(performance.now() - started);
    };
    for (let n = 0; n < 20; n++) await ask();
    expect(timedOut).to.equal(0);
    expect(new Set(await silent)).to.deep.equal(new Set(['ETIMEOUT']));
    for (let n = 0; n < 20; n++) await ask();
    expect(tookMs.toSorted((a, b) => a - b)[30]).to.be.lessThan(1_000); // the 31st of forty, because the machine may be busy
    shared.close();
  });

  it('waits only briefly for the slower family', async () => {
    const never = new Promise<string[]>(() => {});
    const half = dnsResolver({ resolve4: async () => ['192.0.2.4'], resolve6: () => never, cancel() {} });
    expect(await half.resolve('half.example')).to.deep.equal(['192.0.2.4']);
  });

  it('waits longer for IPv4, which many hosts need, but not forever', async () => {
    const resolve6 = async () => ['2001:db8::6'];
    const slowly = async () => {
      await once(AbortSignal.timeout(200), 'abort');
      return ['192.0.2.4'];
    };
    const slow = dnsResolver({ resolve4: slowly, resolve6, cancel() {} });
    expect(await slow.resolve('half.example')).to.deep.equal(['192.0.2.4', '2001:db8::6']);
    const half = dnsResolver({ resolve4: () => new Promise<string[]>(() => {}), resolve6, cancel() {} });
    expect(await half.resolve('half.example')).to.deep.equal(['2001:db8::6']);
  });

  it('waits for the slower family if the faster one has no address', async () => {
    const failed = async (): Promise<string[]> => {
      throw new Error('ENODATA');
    };
    const half = dnsResolver({ resolve4: failed, resolve6: async () => ['2001:db8::6'], cancel() {} });
    expect(await half.resolve('half.example')).to.deep.equal(['2001:db8::6']);
  });
});

describe('hosts file', () => {
  const TEXT =
    '# hosts\n127.0.0.1 localhost Box # me\r\n::1\tlocalhost ip6-localhost\nnonsense here\n10.0.0.5\n::2 box\n10.0.0.6 box';

  it('is parsed like hosts(5), IPv4 first', () => {
    expect([...parseHosts(TEXT)]).to.deep.equal([
      ['localhost', ['127.0.0.1', '::1']],
      ['box', ['127.0.0.1', '10.0.0.6', '::2']],
      ['ip6-localhost', ['::1']],
    ]);
  });

  it('is cached for 10 s and then read again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quita-hosts-'));
    try {
      const path = join(folder, 'hosts');
      let now = 0;
      const hosts = hostsFile(path, () => now);
      expect(hosts.lookup('box')).to.deep.equal([]);
      writeFileSync(path, '10.0.0.1 box');
      now = 9_999;
      expect(hosts.lookup('box')).to.deep.equal([]);
      now = 10_000;
      expect(hosts.lookup('box')).to.deep.equal(['10.0.0.1']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('takes precedence over DNS; localhost is loopback even if it is not listed', async () => {
    const dns = scripted(['192.0.2.1']);
    const resolver = hostsFirst({ lookup: (name) => (name === 'box' ? ['10.0.0.1'] : []) }, dns);
    expect(await resolver.resolve('box')).to.deep.equal(['10.0.0.1']);
    expect(await resolver.resolve('localhost')).to.deep.equal(['127.0.0.1', '::1']);
    expect(await resolver.resolve('shop.localhost')).to.deep.equal(['127.0.0.1', '::1']);
    expect(dns.asked).to.deep.equal([]);
    expect(await resolver.resolve('example.com')).to.deep.equal(['192.0.2.1']);
    expect(dns.asked).to.deep.equal(['example.com']);
    resolver.close();
    expect(dns.closed).to.equal(1);
  });
});

describe('cachedResolver', () => {
  it('caches an answer for 10 s', async () => {
    let now = 0;
    const dns = scripted(['192.0.2.1'], ['192.0.2.2']);
    const resolver = cachedResolver(dns, () => now);
    expect(await resolver.resolve('a')).to.deep.equal(['192.0.2.1']);
    now = 9_999;
    expect(await resolver.resolve('a')).to.deep.equal(['192.0.2.1']);
    now = 10_000;
    expect(await resolver.resolve('a')).to.deep.equal(['192.0.2.2']);
    expect(dns.asked).to.deep.equal(['a', 'a']);
  });

  it('sends one query for concurrent callers', async () => {
    const dns = scripted(['192.0.2.1']);
    const resolver = cachedResolver(dns, () => 0);
    const all = await Promise.all(Array.from({ length: 20 }, () => resolver.resolve('a')));
    expect(all).to.deep.equal(Array.from({ length: 20 }, () => ['192.0.2.1']));
    expect(dns.asked).to.deep.equal(['a']);
  });

  it('caches each name separately', async () => {
    const resolver = cachedResolver(scripted(['192.0.2.1'], ['192.0.2.2']), () => 0);
    expect(await resolver.resolve('a')).to.deep.equal(['192.0.2.1']);
    expect(await resolver.resolve('b')).to.deep.equal(['192.0.2.2']);
  });

  it('does not cache failures', async () => {
    const dns = scripted(Object.assign(new Error(), { code: 'ENOTFOUND' }), ['192.0.2.1']);
    const resolver = cachedResolver(dns, () => 0);
    expect(await codeOf(resolver.resolve('a'))).to.equal('ENOTFOUND');
    expect(await resolver.resolve('a')).to.deep.equal(['192.0.2.1']);
  });

  it('evicts the oldest of more than 10,000 names', async () => {
    const asked: string[] = [];
    const resolver = cachedResolver(
      {
        async resolve(name) {
          asked.push(name);
          return ['192.0.2.1'];
        },
        close() {},
      },
      () => 0,
    );
    for (let i = 0; i <= 10_000; i++) await resolver.resolve(`n${i}`);
    asked.length = 0;
    await resolver.resolve('n1');
    await resolver.resolve('n10000');
    await resolver.resolve('n0');
    expect(asked).to.deep.equal(['n0']);
  });
});
