// An operator gives the Pix key of a connection to another connection at the same bank, while codes with the key are open (V2, V4).
import { expect } from 'chai';
import type { ConnectionId, PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { assertExists } from '../../../../domain/payment/payment.ts';
import type { Simulator } from '../../../simulators/pixApi/startSimulator.ts';
import { type Added, ConnectionDesk } from '../../../world/connectionDesk.ts';
import { rawIdOf } from '../../../world/http.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { migratedDatabase, type TestDatabase } from '../../../world/postgres.ts';

const MOVED = '5f84a4c5-c5cb-4599-9f13-000000000001';
const OTHER = '5f84a4c5-c5cb-4599-9f13-000000000002';

describe('a Pix key that moved to another connection', () => {
  let desk: ConnectionDesk;
  let database: TestDatabase;
  let bank: Simulator;
  let former: Added;
  beforeEach(async () => {
    database = await migratedDatabase();
    desk = await ConnectionDesk.open({ database });
    bank = await desk.simulator({ clients: [{ pixKeys: [MOVED, OTHER] }] });
    former = await desk.add(bank);
    await desk.untilRouted(1);
  });
  afterEach(async () => {
    const { faults } = desk.gateway;
    await desk.close();
    await database.drop();
    expect(faults).to.deep.equal([]);
  });

  /** Gives the key to a new connection, and waits until this process knows. */
  const move = async (over: Record<string, unknown> = {}): Promise<Added> => {
    expect((await desk.ask('PATCH', `/${former.id}`, { pixKey: OTHER })).status).to.equal(200);
    const next = await desk.add(bank, { pixKey: MOVED, order: 1, ...over });
    await desk.untilVersion(next.id, 1);
    return next;
  };
  const load = async (id: string) => {
    const { commands } = desk.gateway.gateway;
    return assertExists((await commands.load(PAYMENT, PAYMENT.stream(rawIdOf(id) as PaymentId))).state);
  };
  const created = async (key?: string) => {
    const { status, body, text } = await desk.charge({}, key);
    expect(status, text).to.equal(201);
    const { txid, connectionId } = (await load(body.id)).charge.terms;
    return { id: body.id, txid, connectionId };
  };
  const tell = async ({ callbackUrl }: Added, ...pix: readonly object[]): Promise<void> => {
    const told = await fetch(callbackUrl, { method: 'POST', body: JSON.stringify({ pix }) });
    expect(told.status).to.equal(200);
  };
  const until = async (look: () => Promise<boolean>): Promise<void> => {
    const found = await pollUntil(desk.gateway.gateway.projected, 20_000, async () => ((await look()) ? true : null));
    expect(found).to.equal(true);
  };
  const received = async (id: string) =>
    (await load(id)).transaction.incomingPayments.map(({ providerPaymentId, outcome }) => [providerPaymentId, outcome]);
  /** Compares both connections, and returns the kinds of all findings. */
  const compare = async (): Promise<readonly string[]> => {
    const { platform } = desk.gateway.gateway.services;
    const done = await platform.runReconciliation(null, 20_000);
    expect(done).to.deep.include({ isDone: true });
    return (await platform.listFindings({ connectionId: null, all: false }, 100)).findings.map(({ kind }) => kind);
  };
  const isSettled = async ({ id }: { readonly id: string }) => (await received(id)).length > 0;
  const isDisputed = async ({ id }: { readonly id: string }) => {
    const { transaction } = await load(id);
    return transaction.status === 'settled' && transaction.dispute !== null;
  };
  const outcomes = async () => {
    const text = 'SELECT outcome FROM operations.provider_callbacks ORDER BY outcome';
    const { rows } = await desk.gateway.storage.operations.query<{ outcome: string | null }>(text);
    return rows.map(({ outcome }) => outcome);
  };

  it('is credited once, to the charge that names it, however many callbacks arrive at both connections', async () => {
    const charge = await created();
    const next = await move();
    const endToEndId = bank.pay(charge.txid);
    for (const one of [former, next]) {
      await tell(one, { endToEndId, txid: charge.txid });
      await tell(one, { endToEndId });
    }
    await until(async () => (await outcomes()).join() === 'handled,handled,handled,handled');
    await until(() => isSettled(charge));
    expect(await received(charge.id)).to.deep.equal([[endToEndId, 'settled']]);
  });

  it('credits each account its own Pix, if callbacks at either connection name the charges of both', async () => {
    const other = await desk.gateway.newTenant();
    const mine = await created();
    const next = await move({ accountId: `acct_${other.accountId}` });
    const theirs = await created(other.liveKey);
    const ids = [former, next].map(({ id }) => rawIdOf(id) as ConnectionId);
    expect([mine.connectionId, theirs.connectionId]).to.deep.equal(ids);
    const [first, second] = [bank.pay(mine.txid), bank.pay(theirs.txid)];
    for (const one of [former, next])
      await tell(one, { endToEndId: first, txid: theirs.txid }, { endToEndId: second, txid: mine.txid });
    await until(async () => (await outcomes()).join() === 'contradicted,contradicted');
    for (const charge of [mine, theirs]) await until(() => isSettled(charge));
    expect(await received(mine.id)).to.deep.equal([[first, 'settled']]);
    expect(await received(theirs.id)).to.deep.equal([[second, 'settled']]);
  });

  for (const how of ['a callback', 'the comparison'] as const)
    it(`takes a MED return from the merchant after ${how}, and the comparison finds nothing else`, async () => {
      const charge = await created();
      const endToEndId = bank.pay(charge.txid);
      await tell(former, { endToEndId, txid: charge.txid });
      await until(() => isSettled(charge));
      const next = await move();
      bank.returnPix(endToEndId, { nature: 'MED_FRAUDE' });
      if (how === 'a callback') await tell(next, { endToEndId, txid: charge.txid });
      else await compare();
      await until(() => isDisputed(charge));
      expect(await compare()).to.deep.equal([]);
    });
});
