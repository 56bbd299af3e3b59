// The search for a person finds every payment that mentions them, and no other one (rule L1).
import { expect } from 'chai';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';

describe('the search for a person (L1)', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  let headers: { readonly authorization: string };
  before(async () => {
    gateway = await openReady();
    headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
    merchant = await Merchant.open(gateway);
  });
  after(() => gateway.close());

  /** Creates a charge for each body. Returns their raw ids after their rows are stored. */
  const charges = async (...bodies: readonly Body[]): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (const body of bodies) ids.push(rawIdOf((await merchant.charge(body)).id));
    await gateway.untilProjected();
    return ids;
  };
  const operate = async (what: 'find' | 'erase', body: object): Promise<readonly string[]> => {
    const reply = await gateway.call<{ data: readonly { id: string }[] }>('POST', `/ops/v1/privacy/${what}`, {
      key: null,
      headers,
      body,
    });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body.data.map(({ id }) => rawIdOf(id));
  };

  it('finds and erases no payment with a longer email address', async () => {
    const joana = { name: 'Joana', email: 'joana@mail.com.br' };
    const [own, other] = await charges({ customer: { name: 'Ana', email: 'ana@mail.com' } }, { customer: joana });
    for (const id of [own, other]) await merchant.pay(`ch_${id}`);
    await gateway.untilProjected();
    expect(await operate('find', { email: 'ana@mail.com' })).to.deep.equal([own]);
    const order = { reason: 'request 17', despiteRetention: true };
    expect(await operate('erase', { email: 'ana@mail.com', ...order })).to.deep.equal([own]);
    const { body } = await gateway.get<Body>(`/v1/charges/ch_${other}`, merchant);
    expect(body['customer']).to.deep.equal({ ...joana, document: null, phone: null });
  });

  it('finds a document beside other numbers and in keys of the metadata', async () => {
    const notes = ['CPF 390.533.447-05, 2 parcelas', 'pedido 123, CPF/ 390.533.447-05', '2026-11-30 39053344705'];
    const made = await charges(
      ...notes.map((note) => ({ metadata: { note } })),
      { metadata: { '390.533.447-05': 'cpf' } },
      { metadata: { note: '139053344705' } },
    );
    expect(await operate('find', { document: '39053344705' })).to.have.members(made.slice(0, -1));
  });

  it('finds a document and an email address in the customer’s name', async () => {
    const [mei, named] = await charges(
      { customer: { name: 'ANA SOUZA 52998224725' } },
      { customer: { name: 'leo@mail.com' } },
    );
    expect(await operate('find', { document: '52998224725' })).to.deep.equal([mei]);
    expect(await operate('find', { email: 'leo@mail.com' })).to.deep.equal([named]);
  });
});
