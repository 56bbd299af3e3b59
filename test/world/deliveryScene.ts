// The scene of tests about deliveries: one gateway for a suite, and for each of its tests a merchant and receivers of its own.
import { expect } from 'chai';
import { Receivers } from './deliveryFacts.ts';
import type { TestGateway } from './gateway.ts';
import { openReady } from './http.ts';
import { Merchant } from './merchant.ts';
import { StoppableClock } from './stoppableClock.ts';

/**
 * Sets the scene of the `describe` that calls it, before its own hooks: `enter` is called before each test. While its `clock` stands, no
 * retry falls due, however slow the machine is. After each test the clock goes on, receivers are closed, and a fault that the gateway
 * reported fails the test.
 */
export const deliveryScene = (
  enter: (gateway: TestGateway, merchant: Awaited<ReturnType<typeof Merchant.open>>, clock: StoppableClock) => void,
  options?: Parameters<typeof openReady>[0],
): Receivers => {
  let gateway: TestGateway;
  const clock = new StoppableClock();
  const receivers = new Receivers();
  before(async () => {
    gateway = await openReady({ clock, ...options });
  });
  after(() => gateway.close());
  beforeEach(async () => enter(gateway, await Merchant.open(gateway), clock));
  afterEach(async () => {
    clock.start();
    expect(gateway.faults).to.deep.equal([]);
    await receivers.close();
  });
  return receivers;
};
