// One tenant sends payments with a webhookUrl at silent hosts and payments with a slow provider; other tenants must not notice.
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { newKey, TestGateway } from '../world/gateway.ts';
import { Merchant } from '../world/merchant.ts';
import { Receiver } from '../world/receiver.ts';

const SILENT_HOSTS = 120;
/** This many silent hosts are enough to block everybody if they can. */
const ENOUGH = 32;
const SLOW_PAYMENTS = 60;
const SAMPLES = 20;
const USUAL_SAMPLES = 5;
/** Other work on the machine may stall the whole test this often; a blocked queue would cause more stalls. */
const STALLS_MAX = 2;

describe('a noisy neighbor', function suite() {
  let test: TestGateway;
  let silent: Server;
  let receiver: Receiver;
  const sockets = new Set<Socket>();
  const dialled = new Set<string>();
  const { promise: noise, resolve: isNoisy } = Promise.withResolvers<void>();
  before(async () => {
    silent = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      dialled.add(socket.localAddress ?? '');
      if (dialled.size === ENOUGH) isNoisy();
    });
    await new Promise<void>((resolve) => silent.listen(0, '0.0.0.0', resolve));
    receiver = await Receiver.open();
    test = await TestGateway.open();
  });
  after(async () => {
    await test.close();
    await receiver.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  const pay = async (key: string, more: Record<string, unknown>): Promise<string> => {
    const body = { amount: 100, currency: 'BRL', paymentMethods: ['PIX'], idempotencyKey: newKey(), ...more };
    const { status, text, body: made } = await test.post<{ id: string }>('/v1/payments', body, { key });
    expect(status, text).to.equal(201);
    return made.id;
  };

  it('delays nobody’s webhooks and payments by more than a second', async () => {
    const [noisy, quiet] = [await Merchant.open(test), await Merchant.open(test)];
    await quiet.register(receiver.url);
    const sample = async (): Promise<number> => {
      const since = performance.now();
      const id = await pay(quiet.key, {});
      // It is sent once the instrument exists (K7), so payment and webhook are complete.
      await receiver.until(({ rawBody }) => rawBody.includes('payment.created') && rawBody.includes(id));
      return performance.now() - since;
    };
    const samples = async (count: number): Promise<number[]> => {
      const tookMs: number[] = [];
      while (tookMs.length < count) tookMs.push(await sample());
      return tookMs.toSorted((a, b) => a - b);
    };
    const usual = await samples(USUAL_SAMPLES);
    const { port } = silent.address() as { port: number };
    const urls = Array.from({ length: SILENT_HOSTS }, (_, n) => `http://127.0.1.${n + 1}:${port}/hook`);
    await Promise.all(urls.map((webhookUrl) => pay(noisy.key, { webhookUrl })));
    await noise;
    for (let n = 0; n < SLOW_PAYMENTS; n++) await pay(noisy.key, { metadata: { sandbox_provider: 'slow' } });

    const tookMs = await samples(SAMPLES);
    const usualMs = usual[USUAL_SAMPLES >> 1] as number;
    expect(tookMs.at(-1 - STALLS_MAX), `${tookMs.map(Math.round)}`).to.be.lessThan(1_000 + usualMs);
    expect(test.faults).to.deep.equal([]);
  });
});
