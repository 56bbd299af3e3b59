// `order list` and `order settle`, beside the running program (rule V9).
import { expect } from 'chai';
import { metadataForChange } from '../../../application/core/eventMetadata.ts';
import { type ConnectionId, idIn } from '../../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, fromMillis, MINUTE_MS } from '../../../domain/kernel/time.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import { recordPayoutOutcome, requestPayout, submitPayout } from '../../../domain/payout/decisions.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { TERMS, wish } from '../../domain/payout/samples.ts';
import { runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

describe('order', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  const run = <T>(...words: string[]) => runWords<T>(database.connectionString, ...words);
  const good = async <T>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect(code, err).to.equal(0);
    return json;
  };
  /** Sends a payout through a connection that makes no calls. Returns its ID. */
  const sent = async (ago: number): Promise<string> => {
    const { accountId } = gateway.tenant;
    const payoutId = idIn<PayoutId>(accountId, crypto.getRandomValues(new Uint8Array(16)));
    const connectionId = '0'.repeat(26) as ConnectionId;
    const terms = { ...TERMS, payoutId, accountId, connectionId, mode: 'live' as const };
    const at = addMillis(fromMillis(Date.now()), -ago);
    const metadata = metadataForChange({ actor: 'key:x', requestId: null }, accountId, payoutId);
    const stream = PAYOUT.stream(payoutId);
    const { commands } = gateway.gateway;
    await commands.execute(PAYOUT, stream, requestPayout(wish({ terms }), at), metadata);
    await commands.execute(PAYOUT, stream, submitPayout(at), metadata);
    await commands.execute(PAYOUT, stream, recordPayoutOutcome({ kind: 'unknown' }, at), metadata);
    await gateway.untilProjected();
    return PAYOUT.idPrefix + payoutId;
  };
  const list = async () => {
    const { orders } = await good<{ orders: readonly { order: string; lastAnswer: string }[] }>('order', 'list');
    return orders.map(({ order, lastAnswer }) => [order, lastAnswer]);
  };
  const doctor = async () => {
    const { json } = await run<{ findings: readonly { check: string; isGood: boolean; says: string }[] }>(
      'doctor',
      '--json',
    );
    const { isGood, says } = json.findings.find(({ check }) => check === 'orders') ?? {};
    return [isGood, says];
  };

  it('lists orders without an answer for a day, and records their outcome once', async () => {
    const young = await sent(DAY_MS - 5 * MINUTE_MS);
    const settle = (order: string, ...words: string[]) => run('order', 'settle', order, ...words);
    expect([await list(), await doctor()]).to.deep.equal([[], [true, 'each was answered within a day']]);
    const early = await settle(young, '--as', 'refused', '--reason', 'x');
    expect([early.code, early.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 2 && err.includes('The institution may still execute the order.'),
    );
    const old = await sent(2 * DAY_MS);
    expect(await list()).to.deep.equal([[old, 'unknown']]);
    const [isGood, says] = await doctor();
    expect([isGood, String(says).includes(old)]).to.deep.equal([false, true]);
    for (const words of [
      ['--as', 'refused'],
      ['--reason', 'x'],
      ['--as', 'paid', '--reason', 'x'],
    ])
      expect((await settle(old, ...words)).code, words.join(' ')).to.equal(2);
    const how = ['--as', 'refused', '--reason', 'The bank never got it.', '--json'];
    expect((await settle(old, ...how)).json).to.deep.equal({ order: old, outcome: 'refused', isNew: true });
    expect((await settle(old, ...how)).json).to.deep.equal({ order: old, outcome: 'refused', isNew: false });
    expect((await settle(old, '--as', 'done', '--reason', 'x')).code).to.equal(2);
    await gateway.untilProjected();
    expect([await list(), (await doctor())[0]]).to.deep.equal([[], true]);
    for (const unknown of [`po_${'0'.repeat(26)}`, `rf_${'0'.repeat(26)}`, `tx_${'0'.repeat(26)}`])
      expect((await settle(unknown, '--as', 'done', '--reason', 'x')).code, unknown).to.equal(2);
    const { code, err } = await settle('x', '--as', 'done', '--reason', 'x');
    expect([code, err.split('\n').at(-2)]).to.deep.equal([
      2,
      'quita: "x" is not an order: use the rf_ id of a refund, the po_ id of a payout, or the ch_ or tx_ id of a payment whose Pix is returned',
    ]);
  });
});
