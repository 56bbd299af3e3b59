// One account’s webhooks to dead hosts must not delay other accounts. test/soak/deadNeighbour.soak.ts uses 1,000 dead hosts and requires a
// p99 below 1 s, which a machine running five suites at once can’t meet.
import { expect } from 'chai';
import { playDeadNeighbour } from '../support/deadNeighbour.ts';

const HOSTS = 90;
const SAMPLES = 30;
const MESSAGES_OF_A_PAYMENT = 2;
/** An attempt at a silent host takes 30 s (W4), so a delivery that waited for one takes longer than this. */
const TOOK_MS_MAX = 10_000;

describe('90 dead webhookUrl targets of one account', () => {
  it('don’t delay the webhooks of another account', async () => {
    const oneAfterTheOther = async (sample: () => Promise<number>) => {
      const all: number[] = [];
      while (all.length < SAMPLES) all.push(await sample());
      return all;
    };
    const { tookMs, messages, tried, held } = await playDeadNeighbour(HOSTS, oneAfterTheOther);
    expect(messages).to.equal((HOSTS + SAMPLES) * MESSAGES_OF_A_PAYMENT);
    expect(tried, 'tried at a dead host').to.be.at.least(HOSTS / 3); // those that refuse connections
    expect(held, 'connections of silent hosts').to.be.at.least(HOSTS / 3);
    expect(tookMs.at(-1), `${tookMs}`).to.be.below(TOOK_MS_MAX);
  });
});
