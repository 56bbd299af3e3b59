// The search for a person finds every payment that mentions them, and no other one (rule L1).
import { expect } from 'chai';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { MedCaseId } from '../../../../domain/kernel/ids.ts';
import { CaseDesk } from '../../../world/caseDesk.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { type ErrorReply, openReady, rawIdOf } from '../../../world/http.ts';
import { type Body, Merchant } from '../../../world/merchant.ts';
import { PayoutDesk } from '../../../world/payoutDesk.ts';
import { poison } from '../../../world/poison.ts';
import { pollUntil } from '../../../world/pollUntil.ts';

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
  const ask = (what: 'find' | 'report' | 'erase', body: object) =>
    gateway.call<{ data: readonly Body[] }>('POST', `/ops/v1/privacy/${what}`, { key: null, headers, body });
  const operate = async (what: 'find' | 'erase', body: object): Promise<readonly string[]> => {
    const reply = await ask(what, body);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body.data.map(({ id }) => rawIdOf(String(id)));
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

  it('finds, reports and erases every spelling of a document that the API accepts', async () => {
    const cpf = '15350946056';
    const order = { reason: 'request 17', despiteRetention: true };
    const spellings = ['153.509.460–56', '153\u00a0509\u00a0460\u00a056', '(153)509.460-56', '153....50946056', cpf];
    const pay = async (customerDocument: string) => {
      const body = { amount: 1_500, currency: 'BRL', paymentMethods: ['PIX'], customerDocument };
      const made = await gateway.post<Body>('/v1/payments', { ...body, idempotencyKey: newKey() }, merchant);
      expect(made.status, made.text).to.equal(201);
      return rawIdOf(String(made.body['id']));
    };
    const asCustomer: string[] = [];
    for (const spelling of spellings) asCustomer.push(await pay(spelling));
    const longer = await pay('1153.509.460–56');
    const asPayer: string[] = [];
    for (const document of spellings.slice(0, 3)) {
      const { id } = await merchant.charge();
      const paid = await gateway.post(`/v1/sandbox/charges/${id}/pay`, { payer: { name: 'Rita', document } }, merchant);
      expect(paid.status, paid.text).to.equal(200);
      asPayer.push(rawIdOf(id));
    }
    await gateway.untilProjected();
    const inTexts = await charges(
      ...['153.509.460–56', 'CPF\t153\n509\f460\u000156', '"153" "509" "460" "56"', '(153)\u2028509\\460\x7f56'].map(
        (note) => ({
          metadata: { note },
        }),
      ),
      { metadata: { '153\u00a0509\u00a0460\u00a056': 'cpf' } },
      { description: 'CPF (153)509.460–56' },
    );
    const all = [...asCustomer, ...asPayer, ...inTexts];

    const listed = await gateway.get<{ data: readonly Body[] }>(`/v1/charges?q=${cpf}&limit=100`, merchant);
    const searched = listed.body.data.map(({ id }) => rawIdOf(String(id)));
    expect(searched).to.have.members([...asCustomer, ...asPayer.slice(0, 2)]);
    for (const document of spellings) expect(await operate('find', { document })).to.have.members(all);
    const reported = (await ask('report', { document: cpf })).body.data;
    expect(reported.map(({ id }) => rawIdOf(String(id)))).to.have.members(all);
    for (const { data } of reported) expect(JSON.stringify(data)).to.match(/153.*509.*460.*56/s);
    // Open charges can't be erased.
    for (const id of [...asCustomer, ...inTexts]) await merchant.pay(`ch_${id}`);
    await gateway.untilProjected();
    const { body } = await ask('erase', { document: cpf, ...order });
    expect(body.data).to.have.deep.members(all.map((id) => ({ id: `tx_${id}`, outcome: 'erased', because: null })));
    await gateway.untilProjected();
    expect(await operate('find', { document: cpf })).to.deep.equal([]);
    expect((await gateway.get<Body>(`/v1/payments/${longer}`, merchant)).body['customerDocument']).to.equal(
      '1153.509.460–56',
    );
  });

  it('finds and erases every spelling of an alphanumeric CNPJ', async () => {
    const cnpj = '12ABC34501DE35';
    const notes = ['12\u00a0abc\u00a0345/01de–35', '(12)ABC.345\t01DE\n35'];
    const made = await charges(...notes.map((note) => ({ metadata: { note } })), { customer: { document: cnpj } });
    await charges({ metadata: { note: '12–ABCD–345/01DE–35' } });
    expect(await operate('find', { document: cnpj })).to.have.members(made);
    for (const id of made) await merchant.pay(`ch_${id}`);
    await gateway.untilProjected();
    const order = { reason: 'request 17', despiteRetention: true };
    expect(await operate('erase', { document: cnpj, ...order })).to.have.members(made);
    await gateway.untilProjected();
    expect(await operate('find', { document: cnpj })).to.deep.equal([]);
  });

  it('finds and erases the person of every payout’s reason, however the document is spelled', async () => {
    const desk = await PayoutDesk.open(gateway);
    await desk.settings({ payout_approval_above: 0 });
    const { id } = await desk.payout();
    expect((await desk.review(id, 'reject', { reason: 'Conta de (987)654.321–00' })).status).to.equal(200);
    await gateway.untilProjected();
    expect(await operate('find', { document: '98765432100' })).to.deep.equal([rawIdOf(id)]);
    await operate('erase', { document: '98765432100', reason: 'request 17', despiteRetention: true });
    await gateway.untilProjected();
    expect(await operate('find', { document: '98765432100' })).to.deep.equal([]);
  });

  it('finds a document and an email address in the customer’s name', async () => {
    const [mei, named] = await charges(
      { customer: { name: 'ANA SOUZA 52998224725' } },
      { customer: { name: 'leo@mail.com' } },
    );
    expect(await operate('find', { document: '52998224725' })).to.deep.equal([mei]);
    expect(await operate('find', { email: 'leo@mail.com' })).to.deep.equal([named]);
  });

  it('finds, reports and erases every email address that a charge accepts', async () => {
    const order = { reason: 'request 17', despiteRetention: true };
    const [joao, pao] = ['joão@padaria.com.br', 'joao@pão.com.br'] as const;
    const texts = (address: string): readonly Body[] => [
      { customer: { email: address.normalize('NFC') } },
      { customer: { email: ` ${address.normalize('NFD').toUpperCase()} ` } },
      { metadata: { note: `mail to <${address.toUpperCase()}>.` } },
      { description: address.normalize('NFD') },
    ];
    const other = ['joao@padaria.com.br', 'ajoão@padaria.com.br', 'joão@padaria.com.brá', 'joao@pao.com.br'];
    await charges(...other.map((email) => ({ customer: { email } })));
    const quoted = '"maria \\\\ \\"lima\\""@example.com';
    for (const [email, bodies] of [
      [joao, texts(joao)],
      [pao, texts(pao)],
      ['用户@例子.公司', texts('用户@例子.公司')],
      ['İlker@Straße.de', [{ customer: { email: 'İlker@Straße.de' } }, { metadata: { note: 'İLKER@straße.de' } }]],
      ['a%_b@x_y.com', [{ customer: { email: 'a%_b@x_y.com' } }]],
      [quoted, [{ customer: { email: quoted } }, { metadata: { note: `(${quoted})` } }]],
    ] as const) {
      const made = await charges(...bodies);
      for (const form of ['NFC', 'NFD'])
        expect(await operate('find', { email: email.normalize(form) }), email).to.have.members(made);
      expect((await ask('report', { email })).body.data, email).to.have.length(made.length);
      for (const id of made) await merchant.pay(`ch_${id}`);
      await gateway.untilProjected();
      expect(await operate('erase', { email, ...order }), email).to.have.members(made);
      await gateway.untilProjected();
      expect(await operate('find', { email }), email).to.deep.equal([]);
    }
    for (const email of other) expect(await operate('find', { email }), email).to.have.length(1);
    for (const email of ['ana', '@', 'ana@', '@mail.com', 'ana @ mail.com'])
      expect((await ask('find', { email })).status, email).to.equal(400);
  });

  it('lists a payment whose dispute can’t be read, and refuses to erase it alone', async () => {
    const document = '12345678909';
    const [well] = (await charges({ customer: { document } })) as [string];
    await merchant.pay(`ch_${well}`);
    const desk = await CaseDesk.open(gateway);
    const charge = await desk.paid();
    const sick = rawIdOf(charge);
    const { id: caseId } = await desk.dispute(charge, { payer: { name: 'Rui', document } });
    await desk.withdraw(caseId);
    await gateway.untilProjected();
    const { accountId } = (await gateway.gateway.services.findKey(desk.merchant.key))!;
    await poison(gateway, { accountId }, MED_CASE.stream(rawIdOf(caseId) as MedCaseId));

    expect(await operate('find', { document })).to.have.members([well, sick]);
    const report = await ask('report', { document });
    const disputes = report.body.data.map((one) => one['disputes']);
    expect(disputes).to.have.deep.members([[], [{ id: caseId, data: null }]]);
    const order = { reason: 'request 17', despiteRetention: true };
    const { body } = await ask('erase', { document, ...order });
    const because = 'An event of its stream can’t be read. Repair it, then erase again.';
    expect(body.data).to.have.deep.members([
      { id: `tx_${well}`, outcome: 'erased', because: null },
      { id: `tx_${sick}`, outcome: 'refused', because },
    ]);
    expect((await ask('erase', { payment: charge, ...order })).status).to.equal(503);
  });

  it('finds and reports the reason for which a reviewer rejected a payout', async () => {
    const reason = 'Conta de 111.444.777-35';
    const desk = await PayoutDesk.open(gateway);
    await desk.settings({ payout_approval_above: 0 });
    const { id } = await desk.payout();
    expect((await desk.review(id, 'reject', { reason })).status).to.equal(200);
    await gateway.untilProjected();
    const { body } = await ask('report', { document: '11144477735' });
    expect(body.data.map((one) => [one['id'], (one['data'] as Body)['reason']])).to.deep.equal([[id, reason]]);
    await operate('erase', { document: '11144477735', reason: 'request 17', despiteRetention: true });
    await gateway.untilProjected();
    expect(await operate('find', { document: '11144477735' })).to.deep.equal([]);
  });

  it('finds and reports the payment of a cash-out refund by its po_ id, and erases it by the payment’s id only', async () => {
    const [id] = await charges({});
    await merchant.pay(`ch_${id}`);
    const asked = { amount: 1_000, idempotencyKey: newKey(), destinationKey: 'bia@example.com' };
    const refund = await gateway.post<Body>(`/v1/payments/${id}/refund`, asked, merchant);
    expect(refund.status, refund.text).to.equal(201);
    const isPaid = await pollUntil(gateway.gateway.projected, 30_000, async () => {
      const { data } = await merchant
        .get<{ data: readonly Body[] }>(`/v1/payments/${id}/refunds`)
        .then(({ body }) => body);
      return data.every(({ status }) => status === 'REFUNDED') ? true : null;
    });
    expect(isPaid).to.equal(true);
    await gateway.untilProjected();
    const { body } = await merchant.get<{ data: readonly Body[] }>('/v1/payouts');
    const payout = body.data.find(({ charge_id: charge }) => charge === `ch_${id}`)?.['id'];

    expect(await operate('find', { payout })).to.deep.equal([id]);
    // Lists continue after payments and requested payouts only.
    expect((await ask('find', { email: 'bia@example.com', startingAfter: payout })).status).to.equal(400);
    const [held] = (await ask('report', { payout })).body.data;
    expect(held?.['data']).to.have.nested.property('transaction.refunds[0].destination', 'bia@example.com');
    const order = { reason: 'request 17', despiteRetention: true };
    const refused = await gateway.call<ErrorReply>('POST', '/ops/v1/privacy/erase', {
      ...{ key: null, headers, body: { payout, ...order } },
    });
    expect([
      refused.status,
      refused.body.error.code,
      refused.body.error.param,
      refused.body.error.message,
    ]).to.deep.equal([
      ...[400, 'invalid_request', 'payout'],
      `This Pix-out is a refund of tx_${id}. Its data is erased with that payment: name it instead.`,
    ]);
    expect(await operate('erase', { payment: `tx_${id}`, ...order })).to.deep.equal([id]);
    await gateway.untilProjected();
    expect(await operate('find', { email: 'bia@example.com' })).to.deep.equal([]);
  });
});
