// Setup of delivery tests: one gateway per suite, and a new merchant and new receivers for each test.
import { expect } from 'chai';
import { Receivers } from './deliveryFacts.ts';
import type { TestGateway } from './gateway.ts';
import { openReady } from './http.ts';
import { Merchant } from './merchant.ts';
import { StoppableClock } from './stoppableClock.ts';

/**
 * Adds the hooks to the calling `describe`, before its own; `enter` runs before each test. While `clock` is stopped, no retry falls due,
 * however slow the machine is. After each test the clock restarts, receivers close, and the test fails if the gateway reported a fault.
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
