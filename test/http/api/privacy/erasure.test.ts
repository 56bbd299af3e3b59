// What is held of a payer is found, reported and erased everywhere, and everything else goes on (rules L1–L3).
import { expect } from 'chai';
import { verify } from '../../../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../../../projections/registry.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { PERSON, PersonDesk, TRACES } from '../../../world/personDesk.ts';

const KEPT = 'The data must be kept until';
const ORDER = { reason: 'request 17 of the data protection officer' };

describe('erasure of personal data (L1–L3)', () => {
  let gateway: TestGateway;
  let desk: PersonDesk;
  let owners: readonly string[];

  before(async function () {
    this.timeout(180_000);
    gateway = await openReady();
    desk = await PersonDesk.open(gateway);
    await desk.payInFull();
    await desk.payOtherwise();
    await desk.payOut();
    // The money of cards is released.
    await desk.merchant.advance(40 * 86_400);
    await desk.merchant.flushed();
    owners = [...desk.payments, rawIdOf(desk.payoutId)];
  });
  after(async () => {
    await desk.close();
    await gateway.close();
  });

  const verified = async () => {
    const { storage } = gateway;
    return (await verify(PROJECTIONS, storage, storage.openSession)).differences;
  };

  it('finds all payments and payouts of a person by document and by email address', async () => {
    const { status, body, text } = await desk.operate<{ data: readonly { id: string }[] }>('find', {
      document: '390.533.447-05',
    });
    expect(status, text).to.equal(200);
    expect(body.data.map(({ id }) => rawIdOf(id))).to.have.members(owners);
    const byEmail = await desk.operate<{ data: readonly { id: string }[] }>('find', {
      email: PERSON.email.toUpperCase(),
    });
    expect(byEmail.body.data.map(({ id }) => rawIdOf(id))).to.have.members(desk.payments);
    const other = await desk.operate<{ data: readonly unknown[] }>('find', { document: '12345678909' });
    expect(other.body.data).to.deep.equal([]);
  });

  it('refuses what the law requires, one by one', async () => {
    const { body } = await desk.operate<{ data: readonly { outcome: string; because: string }[] }>('erase', {
      document: PERSON.document,
      ...ORDER,
    });
    expect(body.data.map(({ outcome, because }) => [outcome, because.slice(0, KEPT.length)])).to.deep.equal(
      owners.map(() => ['refused', KEPT]),
    );
  });

  it('erases everything', async () => {
    const before = await gateway.get('/v1/wallets', desk.merchant);
    const { status, body, text } = await desk.operate<{ data: readonly { outcome: string }[] }>('erase', {
      document: PERSON.document,
      despiteRetention: true,
      ...ORDER,
    });
    expect(status, text).to.equal(200);
    expect(body.data.map(({ outcome }) => outcome)).to.deep.equal(owners.map(() => 'erased'));
    await desk.untilErased(owners);
    await gateway.untilProjected();
    const found = await desk.operate<{ data: readonly unknown[] }>('find', { document: PERSON.document });
    expect(found.body.data).to.deep.equal([]);
    expect((await gateway.get('/v1/wallets', desk.merchant)).body).to.deep.equal(before.body);
    expect(await verified()).to.deep.equal([]);
  });
});
