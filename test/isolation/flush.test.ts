// A tenant flushes deliveries to a silent endpoint many times at once. Other tenants must not pay for it.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { TestGateway } from '../world/gateway.ts';
import { Merchant } from '../world/merchant.ts';
import { type CountedRequests, countRequests } from '../world/statementsOf.ts';

const FLUSHES = 20;
/** A flush looks about 25 times in its 5 seconds. */
const LOOKS_MAX = 40;

describe('flushes of one tenant that wait at once', () => {
  let test: TestGateway;
  let counted: CountedRequests;
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
  before(async () => {
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    test = await TestGateway.open({ isPatient: false });
    counted = countRequests();
  });
  after(async () => {
    counted.stop();
    await test.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('look at the database no more often than one', async () => {
    const merchant = await Merchant.open(test);
    await merchant.register(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/hook`, ['charge.created']);
    const connected = once(silent, 'connection');
    await merchant.charge();
    await connected;
    const names = Array.from({ length: FLUSHES }, (_, n) => `flush ${n}`);
    const flush = (name: string) =>
      test.post('/v1/sandbox/deliveries/flush', {}, { key: merchant.key, headers: counted.headers(name) });
    const answers = await Promise.all(names.map(flush));
    for (const { status, body } of answers) expect([status, body]).to.deep.equal([202, { pending: 1 }]);
    const looks = names.flatMap(counted.statements).filter(({ text }) => text.includes('operations.delivery_turns'));
    expect(looks).to.have.lengthOf.within(1, LOOKS_MAX);
  });
});
