// Nothing is sent to a forbidden address, however it is written, named or resolved (rules W5, W6). A listener there sees no connection, and
// no socket of the process connects to it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { newKey, startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import { PaymentDesk } from '../../../world/paymentDesk.ts';
import { StoppableClock } from '../../../world/stoppableClock.ts';

/** Listens on every IPv4 and IPv6 address of this machine and answers 200. */
class Everywhere {
  readonly port: number;
  readonly #server: Server;
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', () => {
      this.connections += 1;
    });
  }
  static async open(): Promise<Everywhere> {
    // Each response closes its connection, so every attempt connects anew.
    const server = createServer((_request, response) => void response.writeHead(200, { connection: 'close' }).end());
    server.listen(0, '::');
    await once(server, 'listening');
    return new Everywhere(server);
  }
  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Records every address to which sockets of this process connect on one port, until disposed. */
class Dialled {
  readonly #port: number;
  readonly #connect = Socket.prototype.connect;
  readonly addresses: string[] = [];

  constructor(port: number) {
    this.#port = port;
    const dialled = this;
    Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]) {
      this.on('connectionAttempt', (address: string, port: number) => {
        if (port === dialled.#port) dialled.addresses.push(address);
      });
      return Reflect.apply(dialled.#connect, this, args) as Socket;
    } as typeof Socket.prototype.connect;
  }
  [Symbol.dispose](): void {
    Socket.prototype.connect = this.#connect;
  }
}

/** A resolver that returns the next answer for a name at each query, and repeats the last one. */
const changing = (names: Readonly<Record<string, readonly (readonly string[])[]>>) => {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (name: string) => {
      const answers = names[name] ?? [];
      const answer = answers[asked.filter((each) => each === name).length] ?? answers.at(-1);
      asked.push(name);
      if (answer === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
      return answer;
    },
    close: () => undefined,
  };
};

/** Addresses forbidden under every setting. Several of them reach this machine when connected to. */
const NEVER: Readonly<Record<string, string>> = {
  'of this host': '0.0.0.0',
  'of this host, IPv6': '::',
  'of its link': '169.254.1.1',
  'of the cloud’s metadata': '169.254.169.254',
  'of the cloud’s metadata, IPv6': 'fd00:ec2::254',
  shared: '100.64.0.1',
  'of a group': '224.0.0.1',
  'of everybody': '255.255.255.255',
  'of documentation': '192.0.2.1',
  mapped: '::ffff:127.0.0.1',
  'mapped, in hex': '::ffff:7f00:1',
  compatible: '::127.0.0.1',
  translated: '::ffff:0:127.0.0.1',
  'behind NAT64': '64:ff9b::127.0.0.1',
  'behind a NAT64 of one’s own': '64:ff9b:1::7f00:1',
  'behind 6to4': '2002:7f00:1::1',
  'behind Teredo': '2001:0:7f00:1::1',
  'of a link, with its zone': 'fe80::1%lo',
};
/** Addresses forbidden unless the deployment allows them, and always for live endpoints. */
const PRIVATE: Readonly<Record<string, string>> = {
  loopback: '127.0.0.1',
  'loopback, another one': '127.255.255.254',
  'loopback, IPv6': '::1',
  'private, 10': '10.0.0.1',
  'private, 172': '172.16.0.1',
  'private, 192': '192.168.0.1',
  'private, IPv6': 'fd00::1',
};
/** Texts that a resolver must not return and that some sockets would read as 127.0.0.1. */
const NO_ADDRESSES: Readonly<Record<string, string>> = {
  decimal: '2130706433',
  hex: '0x7f000001',
  octal: '017700000001',
  short: '127.1',
  'a name': 'localhost',
};
/** Hosts in URLs that mean a forbidden address. */
const HOSTS: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '%31%32%37.1',
  ],
  ...['１２７.0.0.1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '10.0.0.1', '167772161', '192.168.1.1', '172.31.255.255'],
  ...[
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '100.64.0.1',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::127.0.0.1]',
  ],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]'],
  ...['[2002:7f00:1::1]', '[2001:0:7f00:1::1]', '[fe80::1]', '[fd00::1]', '[fd00:ec2::254]', '[ff02::1]', '[fec0::1]'],
];
const USERINFO = [
  'user@example.com',
  'user:password@example.com',
  '@example.com',
  'example.com@127.0.0.1',
  '127.0.0.1@example.com',
];

const nameOf = (index: number): string => `n${index}.example.test`;
const namesFor = (addresses: readonly string[]) =>
  Object.fromEntries(addresses.map((address, index) => [nameOf(index), [[address]]]));

describe('forbidden addresses', () => {
  let there: Everywhere;
  let dialled: Dialled;
  let gateway: TestGateway | null = null;
  beforeEach(async () => {
    there = await Everywhere.open();
    dialled = new Dialled(there.port);
  });
  afterEach(async () => {
    dialled[Symbol.dispose]();
    expect(gateway?.faults ?? []).to.deep.equal([]);
    await gateway?.close();
    gateway = null;
    await there.close();
  });
  const opened = async (options: Parameters<typeof openReady>[0]): Promise<TestGateway> => {
    gateway = await openReady(options);
    return gateway;
  };
  const expectUntouched = (): void => void expect([there.connections, dialled.addresses]).to.deep.equal([0, []]);

  /** Sends one charge’s webhook to each of these names. Returns the error of each, by name. */
  const attempted = async (
    on: TestGateway,
    names: readonly string[],
  ): Promise<Readonly<Record<string, string | null>>> => {
    const errors: Record<string, string | null> = {};
    for (let at = 0; at < names.length; at += 16) {
      const merchant = await Merchant.open(on); // at most 16 endpoints each
      const some = new Map<string, string>();
      for (const name of names.slice(at, at + 16))
        some.set((await merchant.register(`http://${name}:${there.port}/`, ['charge.created'])).id, name);
      await merchant.charge();
      await merchant.flush();
      for (const { endpointId, lastError } of (await merchant.deliveries()).data)
        errors[some.get(endpointId)!] = lastError;
    }
    return errors;
  };
  const blocked = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, `blocked: ${name} has no address that deliveries may go to`]));

  it('are reached by no name if loopback and private ones are allowed', async () => {
    const addresses = [...Object.values(NEVER), ...Object.values(NO_ADDRESSES)];
    const names = addresses.map((_, index) => nameOf(index));
    const on = await opened({ webhookSender: { resolver: changing(namesFor(addresses)) } });
    expect(await attempted(on, names)).to.deep.equal(blocked(names));
    expectUntouched();
  });

  it('are reached by no name if loopback and private ones are forbidden too', async () => {
    const addresses = [NEVER, PRIVATE, NO_ADDRESSES].flatMap((some) => Object.values(some));
    const names = addresses.map((_, index) => nameOf(index));
    const resolver = changing(namesFor(addresses));
    const on = await opened({ webhookAllowPrivate: false, webhookSender: { resolver } });
    expect(await attempted(on, names)).to.deep.equal(blocked(names));
    expectUntouched();
  });

  it('are not reached by a name whose answer changes: each attempt queries once and connects to the checked address', async () => {
    const name = 'rebound.example.test';
    const good = '127.0.0.1';
    // Each forbidden one reaches the listener when connected to.
    const answers = [
      [good],
      ['0.0.0.0'],
      [good],
      ['::'],
      ['::ffff:127.0.0.1'],
      ['0.0.0.0', good, '169.254.169.254'],
      [good, '::'],
    ];
    const resolver = changing({ [name]: answers });
    const clock = new StoppableClock();
    clock.stop(); // no retry queries the name
    const on = await opened({ webhookSender: { resolver }, clock });
    const merchant = await Merchant.open(on);
    await merchant.register(`http://${name}:${there.port}/`, ['charge.created']);
    const outcomes: unknown[] = [];
    for (const _ of answers) {
      await merchant.charge();
      await merchant.flush();
      const { status, lastError } = (await merchant.deliveries('?limit=1')).data[0]!;
      outcomes.push(lastError ?? status);
      clock.pass(1);
    }
    const [no] = Object.values(blocked([name]));
    const delivered = 'DELIVERED';
    expect(outcomes).to.deep.equal([delivered, no, delivered, no, no, delivered, delivered]);
    expect(resolver.asked).to.deep.equal(answers.map(() => name));
    expect([there.connections, dialled.addresses]).to.deep.equal([4, Array(4).fill(good)]);
  });

  it('are rejected for endpoints and as a payment’s own URL, in every notation and with user info', async () => {
    const on = await opened({ webhookAllowPrivate: false });
    const key = on.tenant.testKey;
    const order = { amount: 1_000, paymentMethods: ['PIX'] };
    for (const scheme of ['http', 'https'])
      for (const host of [...HOSTS, ...USERINFO]) {
        const url = `${scheme}://${host}:${there.port}/`;
        for (const as of [key, ...(scheme === 'https' ? [on.tenant.liveKey] : [])]) {
          const endpoint = await on.post('/v1/webhooks/endpoints', { url, events: ['*'] }, { key: as });
          expect(expectError(endpoint, 400, 'invalid_url', 'url').length, url).to.be.at.most(1);
        }
        const payment = await on.post('/v1/payments', { ...order, webhookUrl: url, idempotencyKey: newKey() }, { key });
        expect(expectError(payment, 400, 'invalid_url', 'webhookUrl').length, url).to.be.at.most(1);
      }
    expectUntouched();
  });

  it('are not reached if they were allowed when stored and no longer are', async () => {
    const database = await startedDatabase();
    try {
      const open = await openReady({ database });
      const url = `http://127.0.0.1:${there.port}/`;
      const register = { url, events: ['charge.created'] };
      expect((await open.post('/v1/webhooks/endpoints', register)).status).to.equal(201);
      const shop = new Merchant(open, open.tenant.testKey);
      const order = { amount: 1_000, paymentMethods: ['PIX'], webhookUrl: `${url}own` };
      const id = await new PaymentDesk(open, open.tenant).waiting(order);
      await shop.flush();
      expect(there.connections).to.equal(2); // charge.created and payment.created
      const { tenant } = open;
      await open.close();

      const closed = await opened({ database, webhookAllowPrivate: false });
      const again = new Merchant(closed, tenant.testKey);
      await again.charge();
      await again.pay(`ch_${id}`);
      await again.flush();
      const { data } = await again.deliveries('?status=PENDING');
      expect(data.map(({ eventType, lastError }) => [eventType, lastError])).to.have.deep.members(
        ['charge.created', 'charge.paid', 'payment.completed', 'payment.status_changed'].map((type) => [
          type,
          'blocked: url must not point to a loopback address',
        ]),
      );
      expect([there.connections, dialled.addresses]).to.deep.equal([2, ['127.0.0.1', '127.0.0.1']]);
      expect(closed.faults).to.deep.equal([]);
      await closed.close();
      gateway = null;
    } finally {
      await database.drop();
    }
  });
});
