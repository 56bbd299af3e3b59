// The requests of the adapter, and how it reads all kinds of answers.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { addSeconds, fromMillis, type Timestamp } from '../../../../domain/kernel/time.ts';
import { buildDynamicBrCode } from '../../../../domain/pix/brCode.ts';
import { freePort } from '../../../world/program.ts';
import { type Answer, Institution } from './institution.ts';
import { type Opened, open, PIX_KEY, requestOf, SECRET, TENANT, TXID } from './support.ts';

const LOCATION = 'pix.example.com/qr/v2/abc';
const END_TO_END_ID = 'E99999008202611240100abcdefghijk';
const codeOf = (amount: number): string =>
  buildDynamicBrCode({ url: LOCATION, merchantName: 'LOJA', merchantCity: 'RECIFE', amount: toMinor(amount) });
const CHARGE = {
  calendario: { criacao: '2026-11-24T01:00:00-03:00', expiracao: 3600 },
  txid: TXID,
  status: 'ATIVA',
  valor: { original: '37.00' },
  chave: PIX_KEY,
  pixCopiaECola: codeOf(3_700),
};
const PIX = {
  endToEndId: END_TO_END_ID,
  txid: TXID,
  valor: '37.00',
  chave: PIX_KEY,
  horario: '2026-11-24T01:05:00.123Z',
};
const CPF = '12345678909';
const ISSUED = {
  kind: 'issued',
  issued: {
    method: 'PIX',
    instrument: {
      provider: 'Banco de teste',
      txid: TXID,
      brCode: CHARGE.pixCopiaECola,
      expiresAt: '2026-11-24T05:00:00.000Z',
    },
  },
};

let institution: Institution;
const opened: Opened[] = [];
const connect = (...[terms, ...rest]: Partial<Parameters<typeof open>>): Opened => {
  const connection = open({ ...institution.terms, ...terms }, ...rest);
  opened.push(connection);
  return connection;
};
const answering = (answer: Answer): Opened => {
  institution.answer = () => answer;
  return connect();
};
const only = <T>(items: readonly T[]): T => {
  expect(items).to.have.length(1);
  return items[0] as T;
};

describe('calls of the API Pix adapter', () => {
  beforeEach(async () => {
    institution = await Institution.open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) one.close();
    await institution.close();
  });

  it('sends what the standard requires', async () => {
    const { provider } = answering({ status: 201, body: CHARGE });
    const note = 'Pedido nº 5 — café '.repeat(20);
    const outcome = await provider.issue(requestOf({ note, debtor: { name: 'José', document: '123.456.789-09' } }));
    expect(outcome).to.deep.equal(ISSUED);
    const { method, path, headers, body } = only(institution.requests);
    expect([method, path, headers.authorization]).to.deep.equal(['PUT', `/cob/${TXID}`, 'Bearer token-1']);
    expect([headers['user-agent'], headers['accept-encoding']]).to.deep.equal(['Quita', 'identity']);
    const { solicitacaoPagador, ...rest } = JSON.parse(body);
    expect(rest).to.deep.equal({
      calendario: { expiracao: 3600 },
      devedor: { cpf: '12345678909', nome: 'Jose' },
      valor: { original: '37.00' },
      chave: PIX_KEY,
    });
    expect(solicitacaoPagador)
      .to.match(/^Pedido n ?o? 5 cafe /)
      .and.to.have.length.at.most(140);
  });

  it('omits the debtor unless both name and document are usable', async () => {
    const { provider } = answering({ status: 201, body: CHARGE });
    await provider.issue(requestOf({ debtor: { name: 'José', document: '***.456.789-**' } }));
    await provider.issue(requestOf({ debtor: { name: '漢字', document: '12345678909' } }));
    await provider.issue(requestOf({ debtor: { name: 'Loja', document: '12ABC34501DE35' } }));
    expect(institution.requests.map(({ body }) => JSON.parse(body).devedor)).to.deep.equal([
      undefined,
      undefined,
      { cnpj: '12ABC34501DE35', nome: 'Loja' },
    ]);
  });

  it('builds the code from the location if the institution sends none', async () => {
    const { pixCopiaECola: _, ...rest } = CHARGE;
    const { provider } = answering({ status: 201, body: { ...rest, loc: { location: `https://${LOCATION}` } } });
    const outcome = await provider.issue(requestOf());
    if (outcome.kind !== 'issued' || outcome.issued.method !== 'PIX') throw new Error(outcome.kind);
    expect(outcome.issued.instrument.brCode).to.include(LOCATION).and.to.include('540537.00');
  });

  it('accepts a code without an amount, because the payer reads it from the charge', async () => {
    // The example of pixCopiaECola has none (API Pix 2.9.0, CobGerada).
    const account = { url: LOCATION, merchantName: 'LOJA', merchantCity: 'RECIFE' };
    const { provider } = answering({ status: 201, body: { ...CHARGE, pixCopiaECola: buildDynamicBrCode(account) } });
    expect((await provider.issue(requestOf())).kind).to.equal('issued');
  });

  it('reads a missing lifetime, or one of null, as a day', async () => {
    for (const expiracao of [undefined, null]) {
      const calendario = { ...CHARGE.calendario, expiracao };
      const outcome = await answering({ status: 201, body: { ...CHARGE, calendario } }).provider.issue(requestOf());
      expect(outcome).to.have.nested.property('issued.instrument.expiresAt', '2026-11-25T04:00:00.000Z');
    }
  });

  const wrongCharges: Readonly<Record<string, object>> = {
    'another txid': { txid: `${TXID}x` },
    'another amount': { valor: { original: '37.01' } },
    'another key': { chave: 'a@b.example' },
    'a numeric amount': { valor: { original: 37 } },
    'a code for another amount': { pixCopiaECola: codeOf(3_701) },
    'a code with a wrong checksum': { pixCopiaECola: `${CHARGE.pixCopiaECola.slice(0, -1)}x` },
    'a text that is not a code': { pixCopiaECola: 'segue o link' },
    'no creation time': { calendario: { expiracao: 3600 } },
    'a time without a time zone': { calendario: { criacao: '2026-11-24T01:00:00', expiracao: 3600 } },
    'no code and no location': { pixCopiaECola: undefined },
    'an unknown status': { status: 'EXPIRADA' },
  };
  for (const [name, change] of Object.entries(wrongCharges))
    it(`rejects an answer with ${name}`, async () => {
      const { provider } = answering({ status: 201, body: { ...CHARGE, ...change } });
      expect(await provider.issue(requestOf())).to.deep.equal({ kind: 'unknown' });
      expect(await provider.findInstrument(requestOf())).to.deep.equal({ kind: 'unknown' });
    });

  const problem = { type: 'https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida', title: 'Cobrança inválida.' };
  const refusals: readonly (readonly [name: string, answer: Answer, outcome: object])[] = [
    [
      'a problem',
      { status: 400, body: { ...problem, status: 400, detail: 'O campo cob.chave não existe.' } },
      {
        kind: 'refused',
        reason: 'Cobrança inválida. O campo cob.chave não existe.',
        providerErrorCode: 'CobOperacaoInvalida',
      },
    ],
    [
      'a document in the text',
      { status: 422, body: { nome: 'valor_invalido', mensagem: 'CPF 123.456.789-09 inválido' } },
      { kind: 'refused', reason: 'CPF *** inválido', providerErrorCode: 'valor_invalido' },
    ],
    [
      '400 in HTML',
      { status: 400, body: '<html>no</html>' },
      { kind: 'refused', reason: 'The institution answered with HTTP 400.', providerErrorCode: 'http_400' },
    ],
    [
      '422 with null',
      { status: 422, body: 'null' },
      { kind: 'refused', reason: 'The institution answered with HTTP 422.', providerErrorCode: 'http_422' },
    ],
    [
      '400 with a list',
      { status: 400, body: [problem] },
      { kind: 'refused', reason: 'The institution answered with HTTP 400.', providerErrorCode: 'http_400' },
    ],
    ['401', { status: 401, body: problem }, { kind: 'unavailable' }],
    ['403', { status: 403, body: problem }, { kind: 'unavailable' }],
    ['404', { status: 404, body: problem }, { kind: 'unavailable' }],
    ['404 in HTML', { status: 404, body: '<html>no</html>' }, { kind: 'unavailable' }],
    ['429', { status: 429, body: problem }, { kind: 'unavailable' }],
    ['409', { status: 409, body: problem }, { kind: 'unknown' }],
    ['500', { status: 500, body: { ...problem, status: '500' } }, { kind: 'unknown' }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, { kind: 'unknown' }],
    ['418', { status: 418, body: problem }, { kind: 'unknown' }],
    ['204', { status: 204 }, { kind: 'unknown' }],
    ['an encoded body', { headers: { 'content-encoding': 'br' }, body: CHARGE }, { kind: 'unknown' }],
    ['a huge body', { body: `{"a":"${'x'.repeat(9_000_000)}"}` }, { kind: 'unknown' }],
  ];
  for (const [name, answer, outcome] of refusals)
    it(`reads ${name}`, async () => {
      const { provider } = answering(answer);
      expect(await provider.issue(requestOf())).to.deep.equal(outcome);
      expect(institution.requests.map(({ path }) => path)).to.not.include('/elsewhere');
    });

  it('treats the 404 page of a proxy as no answer', async () => {
    const { provider } = answering({ status: 404, body: '<html>no</html>' });
    expect(await provider.findInstrument(requestOf())).to.deep.equal({ kind: 'unknown' });
    expect(await provider.cancel(requestOf())).to.equal('unknown');
    expect(await provider.findPayment(TENANT, END_TO_END_ID)).to.deep.equal({ kind: 'unknown' });
  });

  it('reports that nothing was sent if the institution refuses the connection', async () => {
    const connection = connect();
    await institution.close();
    expect(await connection.provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    institution = await Institution.open();
  });

  it('connects to a private address only if the connection allows it', async () => {
    const { provider, warnings } = connect({ allowPrivate: false });
    expect(await provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    const secure = connect({ allowPrivate: false, tokenUrl: institution.url.replace('http:', 'https:') });
    expect(await secure.provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    expect(only(secure.warnings).fields).to.deep.include({ why: 'no token: url must not point to a loopback address' });
    const named = connect({ allowPrivate: false, tokenUrl: 'https://localhost:8443/token' });
    expect(await named.provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    expect(only(named.warnings).fields)
      .to.have.property('why')
      .that.matches(/^no token: blocked: localhost /);
    expect(institution.tokenRequests).to.deep.equal([]);
    expect(only(warnings).fields).to.deep.include({
      why: 'no token: url must use https unless private addresses are allowed',
    });
  });

  const received = async (change: object) => {
    const found = await answering({ body: { ...PIX, ...change } }).provider.findPayment(TENANT, END_TO_END_ID);
    return found.kind === 'known' ? found.value : found.kind;
  };

  it('reads a Pix without the optional fields', async () => {
    expect(await received({ txid: undefined, chave: undefined })).to.deep.equal({
      txid: null,
      incoming: {
        method: 'PIX',
        providerPaymentId: END_TO_END_ID,
        amount: 3_700,
        payer: { name: null, document: null },
        paidAt: '2026-11-24T01:05:00.123Z',
      },
      isPlain: true,
      returns: [],
    });
  });

  it('keeps a masked payer document as it was sent', async () => {
    const found = await received({ pagador: { nome: 'Ana', cpf: '***.456.789-**' } });
    expect(found).to.have.nested.property('incoming.payer').deep.equal({ name: 'Ana', document: '***.456.789-**' });
  });

  it('shortens long names of payers, so that their payment can be recorded, and drops long documents', async () => {
    const nome = '😀'.repeat(1_000_000);
    const found = await received({ pagador: { nome, cpf: '1'.repeat(65), cnpj: '2'.repeat(64) } });
    const payer = { name: `${'😀'.repeat(199)}…`, document: '2'.repeat(64) };
    expect(found).to.have.nested.property('incoming.payer').deep.equal(payer);
  });

  it('reads returns as an object or a list, with every nature', async () => {
    const back = (id: string, natureza?: string) => ({
      id,
      rtrId: 'D99999008202611240100abcdefghijk',
      valor: '1.00',
      natureza,
      horario: { solicitacao: `2026-11-24T02:0${id}:00Z` },
      status: 'EM_PROCESSAMENTO',
    });
    const natures = [
      'ORIGINAL',
      'RETIRADA',
      'MED_OPERACIONAL',
      'MED_FRAUDE',
      'MED_PIX_AUTOMATICO',
      'MED_NOVO',
      undefined,
    ];
    const list = natures.map((natureza, i) => back(String(i), natureza));
    expect(await received({ devolucoes: list.toReversed() }))
      .to.have.property('returns')
      .satisfy((returns: readonly { nature: string }[]) => {
        expect(returns.map(({ nature }) => nature)).to.deep.equal([
          ...['ordinary', 'withdrawal', 'medOperational', 'medFraud', 'medAutomatic', 'medOperational', 'ordinary'],
        ]);
        return true;
      });
    expect(await received({ devolucoes: back('1') }))
      .to.have.property('returns')
      .with.length(1);
    expect(await received({ devolucoes: 'none' })).to.equal('unknown');
    expect(await received({ devolucoes: [{ ...back('1'), status: 'OUTRO' }] })).to.equal('unknown');
  });

  it('marks a Pix as plain only if the price is its only component', async () => {
    const original = { valor: '37.00' };
    expect(await received({ componentesValor: { original } })).to.have.property('isPlain', true);
    expect(await received({ componentesValor: { original, multa: { valor: '0.00' } } })).to.have.property(
      'isPlain',
      true,
    );
    for (const componentesValor of [null, { original, saque: null, troco: null }])
      expect(await received({ componentesValor })).to.have.property('isPlain', true);
    expect(await received({ componentesValor: { original, saque: { valor: '7.00' } } })).to.have.property(
      'isPlain',
      false,
    );
    expect(await received({ componentesValor: 'original' })).to.have.property('isPlain', false);
  });

  it('can’t compare the payer if the institution ignores or rejects the filter', async () => {
    const list = { parametros: {}, pix: [PIX] };
    const { provider } = answering({ body: list });
    const pix = {
      txid: TXID,
      endToEndId: END_TO_END_ID,
      paidAt: PIX.horario as Timestamp,
      expectedTaxId: CPF,
    };
    expect(await provider.checkPayer(TENANT, pix)).to.deep.equal({ kind: 'known', value: 'unknown' });
    institution.answer = ({ query }) => (query.has('cpf') ? { status: 400, body: problem } : { body: list });
    expect(await provider.checkPayer(TENANT, pix)).to.deep.equal({ kind: 'known', value: 'unknown' });
  });

  it('limits the list to the past, but includes the whole second of the payment', async () => {
    const asked = async (now: string) => {
      const clock = { now: () => Date.parse(now) };
      const { provider } = connect({}, {}, { clock });
      institution.answer = () => ({ body: { parametros: {}, pix: [] } });
      const pix = { txid: TXID, endToEndId: END_TO_END_ID, paidAt: PIX.horario as Timestamp, expectedTaxId: CPF };
      await provider.checkPayer(TENANT, pix);
      const { query } = institution.requests.at(-1) as (typeof institution.requests)[number];
      return [query.get('inicio'), query.get('fim')];
    };
    const from = '2026-11-24T00:05:00.123Z';
    expect(await asked('2026-11-24T01:05:30.000Z')).to.deep.equal([from, '2026-11-24T01:05:30.000Z']);
    // The institution's clock is ahead.
    expect(await asked('2026-11-24T01:04:00.000Z')).to.deep.equal([from, '2026-11-24T01:05:01.123Z']);
    expect(await asked('2026-12-24T01:05:30.000Z')).to.deep.equal([from, '2026-11-24T02:05:00.123Z']);
  });

  it('reports an outcome as certain if no byte was sent, and as unknown if the answer is lost', async () => {
    const { provider } = connect({ baseUrl: `http://127.0.0.1:${await freePort()}` });
    expect(await provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    expect(institution.tokenRequests).to.have.length(1);
    institution.answer = (_, res) => {
      res.destroy();
      return null;
    };
    expect(await connect().provider.issue(requestOf())).to.deep.equal({ kind: 'unknown' });
  });

  it('lists only payments to the connection’s key', async () => {
    const others = { 'b@b.example': 'B', [PIX_KEY]: 'C' };
    const items = Object.entries(others).map(([chave, end]) => ({
      ...PIX,
      chave,
      endToEndId: END_TO_END_ID.slice(0, -1) + end,
    }));
    const { chave: _, ...unstated } = PIX;
    const { statement } = answering({ body: { parametros: {}, pix: [...items, unstated] } });
    const page = await statement.listReceived(PIX.horario as Timestamp, PIX.horario as Timestamp, null);
    const ids =
      page.kind === 'known' ? page.value.items.map(({ incoming }) => incoming.providerPaymentId.slice(-1)) : [];
    expect(ids).to.deep.equal(['C', END_TO_END_ID.slice(-1)]);
  });

  it('names the items of a list that it can’t read, unless they are of another key', async () => {
    const idOf = (end: string) => END_TO_END_ID.slice(0, -1) + end;
    const long = 'x'.repeat(100);
    const pix = [
      { ...PIX, endToEndId: idOf('1') },
      { ...PIX, endToEndId: idOf('2'), valor: '12,34' },
      { ...PIX, endToEndId: idOf('3'), horario: 'ontem', chave: 'b@b.example' },
      { ...PIX, endToEndId: idOf('4'), horario: 'ontem', devolucoes: [{ id: 'r1' }], chave: undefined },
      { ...PIX, endToEndId: long },
    ];
    const at = PIX.horario as Timestamp;
    const listed = async (...items: readonly object[]) =>
      answering({ body: { parametros: {}, pix: items } }).statement.listReceived(at, at, null);
    const page = await listed(...pix);
    if (page.kind !== 'known') throw new Error('unknown page');
    const { items, unreadable } = page.value;
    expect(items.map(({ incoming }) => incoming.providerPaymentId)).to.deep.equal([idOf('1')]);
    const time = PIX.horario;
    expect(unreadable).to.deep.equal([
      { id: idOf('2'), at: time },
      { id: idOf('4'), at: null },
      { id: long.slice(0, 64), at: time },
    ]);
    expect(await listed(...pix, { ...PIX, endToEndId: null })).to.deep.equal({ kind: 'unknown' });
  });

  it('leaves an unreadable payment to a moved key to the connection that has the key now (V2)', async () => {
    const keys = { formerKeys: ['b@b.example', 'c@c.example'], movedKeys: ['b@b.example'] };
    const unreadable = keys.formerKeys.map((chave) => ({ ...PIX, endToEndId: chave, chave, valor: '12,34' }));
    institution.answer = () => ({ body: { parametros: {}, pix: unreadable } });
    const at = PIX.horario as Timestamp;
    expect(await connect({}, {}, keys).statement.listReceived(at, at, null)).to.deep.equal({
      kind: 'known',
      value: { items: [], unreadable: [{ id: 'c@c.example', at }], next: null },
    });
  });

  it('reads year 1 as no time, and an id of more than 64 characters as unreadable', async () => {
    const NONE = '0001-01-01T00:00:00Z';
    const back = { id: 'r1', rtrId: 'D1', valor: '1.00', status: 'DEVOLVIDO' };
    const horario = { solicitacao: PIX.horario, liquidacao: NONE };
    const idOf = (end: string) => END_TO_END_ID.slice(0, -1) + end;
    const pix = [
      { ...PIX, endToEndId: idOf('1'), horario: NONE },
      { ...PIX, endToEndId: idOf('2'), txid: 'x'.repeat(65), devolucoes: [{ ...back, horario }] },
      { ...PIX, endToEndId: idOf('3'), devolucoes: [{ ...back, id: 'x'.repeat(65), horario }] },
      { ...PIX, endToEndId: idOf('4'), devolucoes: [{ ...back, id: 'x'.repeat(64), horario }] },
    ];
    const { statement } = answering({ body: { parametros: {}, pix } });
    const page = await statement.listReceived(PIX.horario as Timestamp, PIX.horario as Timestamp, null);
    if (page.kind !== 'known') throw new Error('unknown page');
    const { items, unreadable } = page.value;
    expect(
      items.map(({ txid, returns }) => [txid, returns.map(({ id, settledAt }) => [id.length, settledAt])]),
    ).to.deep.equal([
      [null, [[2, null]]],
      [PIX.txid, [[64, null]]],
    ]);
    expect(unreadable).to.deep.equal([
      { id: idOf('1'), at: null },
      { id: idOf('3'), at: PIX.horario },
    ]);
  });

  it('lists up to now if the institution refuses a period that ends in the future', async () => {
    const { statement } = connect();
    const now = fromMillis(Date.now());
    const soon = addSeconds(now, 120);
    const refused = { status: 400, body: { title: 'Período inválido', status: 400 } };
    const ends: (string | null)[] = [];
    institution.answer = ({ query }) => {
      const end = query.get('fim');
      ends.push(end);
      return end !== null && end > fromMillis(Date.now())
        ? refused
        : { status: 200, body: { parametros: {}, pix: [] } };
    };
    expect((await statement.listReceived(addSeconds(now, -60), soon, null)).kind).to.equal('known');
    expect([ends[0], ends.length]).to.deep.equal([soon, 2]);
    institution.answer = () => refused;
    expect(await statement.listReceived(addSeconds(now, -60), now, null)).to.deep.equal({ kind: 'unknown' });
    expect(ends).to.have.length(2);
  });

  it('names the sent payments of a list that it can’t read', async () => {
    const sent = {
      ...{ idEnvio: 'p1', valor: '12.34', status: 'REALIZADO', endToEndId: END_TO_END_ID },
      horario: { solicitacao: PIX.horario },
    };
    const at = PIX.horario as Timestamp;
    const listed = async (...pix: readonly object[]) => {
      institution.answer = () => ({ status: 200, body: { parametros: {}, pix } });
      return connect({ preset: 'efi' }).statement.listSent?.(at, at, null);
    };
    const item = { id: 'p1', endToEndId: END_TO_END_ID, status: 'done', amount: 1234, at: PIX.horario };
    expect(await listed(sent, { ...sent, idEnvio: 'p2', status: 'NOVO' })).to.deep.equal({
      kind: 'known',
      value: { items: [item], unreadable: [{ id: 'p2', at: PIX.horario }], next: null },
    });
    // Sent in the bank's own app.
    expect(await listed(sent, { ...sent, idEnvio: undefined })).to.deep.equal({
      kind: 'known',
      value: { items: [item, { ...item, id: END_TO_END_ID }], unreadable: [], next: null },
    });
    expect(await listed(sent, { ...sent, idEnvio: undefined, endToEndId: undefined })).to.deep.equal({
      kind: 'unknown',
    });
  });

  it('ends a list with repeating pages if the institution does not count pages', async () => {
    const idOf = (n: number) => `${END_TO_END_ID.slice(0, -3)}${String(n).padStart(3, '0')}`;
    const pix = Array.from({ length: 150 }, (_, n) => ({ ...PIX, endToEndId: idOf(n) }));
    const { statement } = answering({ body: { parametros: {}, pix } });
    const at = PIX.horario as Timestamp;
    const sizes: number[] = [];
    for (
      let cursor: string | null = null, isFirst = true;
      (isFirst || cursor !== null) && sizes.length < 3;
      isFirst = false
    ) {
      const page = await statement.listReceived(at, at, cursor);
      if (page.kind !== 'known') throw new Error('unknown page');
      sizes.push(page.value.items.length);
      cursor = page.value.next;
    }
    expect(sizes).to.deep.equal([150, 150]);
    expect(institution.requests.map(({ query }) => query.get('paginacao.paginaAtual'))).to.deep.equal(['0', '1']);
  });

  it('reports a rejected repeat of a return as unknown if the return is not listed yet (V9)', async () => {
    const back = { method: 'PIX', providerPaymentId: END_TO_END_ID, returnId: 'r1', metadata: null } as const;
    const outcome = async (detail: string) => {
      const body = { title: 'Devolução inválida', status: 400, detail };
      const { provider } = connect();
      institution.answer = ({ method }) => (method === 'PUT' ? { status: 400, body } : { status: 404, body });
      return (await provider.returnPayment(TENANT, { ...back, amount: requestOf().amount })).kind;
    };
    expect(await outcome('O id de devolução já foi utilizado anteriormente.')).to.equal('unknown');
    expect(await outcome('O saldo da conta é insuficiente.')).to.equal('refused');
  });

  it('reports a failed return as rejected, even if the amount has changed since it was ordered (V9)', async () => {
    const back = { method: 'PIX', providerPaymentId: END_TO_END_ID, returnId: 'r1', metadata: null } as const;
    const outcome = async (status: string, motivo = 'Conta encerrada') => {
      const { provider } = connect();
      const made = { id: 'r1', valor: '37.00', horario: { solicitacao: PIX.horario }, status, motivo };
      const used = { title: 'Devolução inválida', status: 400, detail: 'O id de devolução já foi utilizado.' };
      institution.answer = ({ method }) => (method === 'PUT' ? { status: 400, body: used } : { body: made });
      return provider.returnPayment(TENANT, { ...back, amount: toMinor(2_700) });
    };
    expect(await outcome('NAO_REALIZADO')).to.deep.equal({
      kind: 'refused',
      reason: 'Conta encerrada',
      isListed: true,
    });
    expect(await outcome('DEVOLVIDO')).to.deep.equal({ kind: 'unknown' });
    // Events record the reason.
    expect(await outcome('NAO_REALIZADO', 'x'.repeat(1_000_000)))
      .to.have.property('reason')
      .equal(`${'x'.repeat(299)}…`);
  });

  it('never throws, whatever JSON is answered', async () => {
    const { provider, statement, rail } = connect({ preset: 'efi' }, {}, { timeouts: { breakerPauseMs: 0 } });
    const order = {
      ...requestOf(),
      refundId: 'r1' as never,
      strategy: 'devolution',
      destination: null,
      providerPaymentId: END_TO_END_ID,
    } as const;
    const now = PIX.horario as Timestamp;
    const keys = [
      ...Object.keys(CHARGE),
      ...Object.keys(PIX),
      'devolucoes',
      'pix',
      'parametros',
      'paginacao',
      'original',
    ];
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), tie('value'))),
    })).value;
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom(200, 201, 400, 404, 409, 500), async (body, status) => {
        institution.answer = () => ({ status, body: JSON.stringify(body) });
        await provider.issue(requestOf());
        await provider.cancel(requestOf());
        await provider.paymentsOf(TENANT, TXID);
        await provider.findPayment(TENANT, END_TO_END_ID);
        await provider.refund(order);
        await provider.refund({ ...order, strategy: 'cashout', destination: PIX_KEY });
        await statement.listReceived(now, now, null);
        await statement.listSent?.(now, now, null);
        expect(rail).to.not.equal(null);
      }),
      { numRuns: 60 },
    );
  });
});

describe('tokens, circuit and secrets of the API Pix adapter', () => {
  beforeEach(async () => {
    institution = await Institution.open();
    institution.answer = () => ({ status: 201, body: CHARGE });
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) one.close();
    await institution.close();
  });

  it('a token is requested once for concurrent callers, and reused', async () => {
    const { provider } = connect();
    await Promise.all(Array.from({ length: 10 }, () => provider.issue(requestOf())));
    await provider.issue(requestOf());
    const { method, headers, body } = only(institution.tokenRequests);
    expect([method, headers['content-type']]).to.deep.equal(['POST', 'application/x-www-form-urlencoded']);
    expect(headers.authorization).to.equal(`Basic ${Buffer.from(`cliente:${SECRET}`).toString('base64')}`);
    expect(Object.fromEntries(new URLSearchParams(body))).to.deep.equal({
      grant_type: 'client_credentials',
      scope: 'cob.read cob.write pix.read pix.write',
    });
  });

  it('a token is requested with JSON at Efí', async () => {
    await connect({ preset: 'efi' }).provider.issue(requestOf());
    const { headers, body } = only(institution.tokenRequests);
    expect([headers['content-type'], JSON.parse(body)]).to.deep.equal([
      'application/json',
      { grant_type: 'client_credentials' },
    ]);
    expect(only(institution.requests).path).to.equal(`/v2/cob/${TXID}`);
  });

  for (const [name, lifetime, freshMs] of [
    ['a number', 100, 90_000],
    ['a text', '100', 90_000],
    ['long', 3_600, 3_570_000],
    ['missing', undefined, 54_000],
    ['wrong', {}, 54_000],
  ] as const)
    it(`a token is renewed in time if the lifetime is ${name}`, async () => {
      institution.token = () => ({ body: { access_token: 't', expires_in: lifetime } });
      let now = 0;
      const { provider } = connect({}, {}, { stopwatch: { elapsedMs: () => now, pause: async () => undefined } });
      await provider.issue(requestOf());
      now = freshMs - 1;
      await provider.issue(requestOf());
      expect(institution.tokenRequests).to.have.length(1);
      now = freshMs;
      await provider.issue(requestOf());
      expect(institution.tokenRequests).to.have.length(2);
    });

  it('a token is renewed once after a 401, and not again', async () => {
    institution.answer = ({ headers }) =>
      headers.authorization === 'Bearer token-1' ? { status: 401 } : { status: 201, body: CHARGE };
    const { provider } = connect();
    expect(await provider.issue(requestOf())).to.deep.equal(ISSUED);
    expect(institution.requests).to.have.length(2);
    institution.answer = () => ({ status: 401 });
    expect(await provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    expect(institution.requests).to.have.length(4);
  });

  it('the circuit opens after five consecutive failures, and is tested after a pause', async () => {
    let now = 0;
    const { provider, circuit } = connect(
      {},
      {},
      { stopwatch: { elapsedMs: () => now, pause: async () => undefined } },
    );
    institution.answer = () => ({ status: 500 });
    for (let i = 0; i < 4; i++) await provider.issue(requestOf());
    institution.answer = () => ({ status: 400 });
    await provider.issue(requestOf());
    institution.answer = () => ({ status: 500 });
    for (let i = 0; i < 4; i++) await provider.issue(requestOf());
    expect(circuit()).to.equal('closed');
    await provider.issue(requestOf());
    expect(circuit()).to.equal('open');
    const sent = institution.requests.length;
    expect(await provider.issue(requestOf())).to.deep.equal({ kind: 'unavailable' });
    expect(await provider.findPayment(TENANT, END_TO_END_ID)).to.deep.equal({ kind: 'unknown' });
    expect(institution.requests).to.have.length(sent);
    now = 10_000;
    expect(circuit()).to.equal('halfOpen');
    await Promise.all([provider.issue(requestOf()), provider.issue(requestOf())]);
    expect(institution.requests).to.have.length(sent + 1);
    expect(circuit()).to.equal('open');
    now = 20_000;
    institution.answer = () => ({ status: 201, body: CHARGE });
    expect(await provider.issue(requestOf())).to.deep.equal(ISSUED);
    expect(circuit()).to.equal('closed');
  });

  it('a new token is kept if a call with an older one is rejected late', async () => {
    const { provider } = connect();
    const old: ServerResponse[] = [];
    institution.answer = ({ headers }, res) => {
      if (headers.authorization !== 'Bearer token-1') {
        // The second call with the old token is only rejected now.
        if (!old[1]?.headersSent) old[1]?.writeHead(401).end();
        return { status: 201, body: CHARGE };
      }
      if (old.push(res) === 2) old[0]?.writeHead(401).end();
      return null;
    };
    const all = await Promise.all([provider.issue(requestOf()), provider.issue(requestOf())]);
    expect(all).to.deep.equal([ISSUED, ISSUED]);
    expect(institution.tokenRequests).to.have.length(2);
  });

  it('secrets are removed from texts that the institution repeats', async () => {
    const connection = connect();
    institution.answer = ({ headers, body }) => ({ status: 400, body: { title: `${headers.authorization} ${body}` } });
    const outcome = await connection.provider.issue(requestOf());
    expect(outcome)
      .to.have.property('reason')
      .that.matches(/^Bearer \*\*\* \{"calendario"/);
    const url = 'https://quita.example/providers/x/retorno';
    const refusal = await connection.registerWebhook(url).catch(({ message }) => message);
    expect(refusal).to.equal('Bearer *** {"webhookUrl":"https://quita.example/providers/x/***"}');
  });

  it('secrets of a token request are removed, in whatever form the institution repeats them', async () => {
    const secret = `segredo 12345678/"x"${'y'.repeat(40)}`;
    const repeats: readonly (readonly [preset: string, body: (headers: string, body: string) => object])[] = [
      ['generic', (authorization) => ({ title: authorization })],
      // Secrets are removed first; then long reasons are cut off and long numbers masked.
      ['generic', () => ({ title: `${'t'.repeat(280)}${secret}` })],
      ['inter', (_, body) => ({ detail: body })],
      ['generic', () => ({ error: secret, title: secret })],
    ];
    for (const [preset, bodyOf] of repeats) {
      institution.token = ({ headers, body }) => ({ status: 400, body: bodyOf(headers.authorization ?? '', body) });
      const { provider, warnings } = connect({ preset }, { clientSecret: secret });
      await provider.issue(requestOf());
      const said = JSON.stringify(warnings);
      expect(said).to.include('***');
      for (const part of ['segredo', 'yyyy', Buffer.from(secret).toString('base64').slice(8, 40)])
        expect(said).to.not.include(part);
    }
  });

  it('secrets and documents are not logged', async () => {
    const echo = { title: `segredo ${SECRET}`, detail: 'CPF 12345678909', status: 401 };
    const error_description = `bad credentials: ${SECRET}`;
    institution.token = () => ({ status: 401, body: { error: 'invalid_client', error_description } });
    const { provider, warnings } = connect();
    await provider.issue(requestOf());
    institution.token = () => ({ body: { access_token: 'cobertura', expires_in: 1 } });
    institution.answer = () => ({ status: 500, body: echo });
    await provider.issue(requestOf());
    await provider.findPayment(TENANT, END_TO_END_ID);
    expect(warnings.map(({ message, fields }) => ({ message, ...fields }))).to.deep.equal([
      failed('PUT cob', 'unavailable', 'no token: bad credentials: ***'),
      failed('PUT cob', 'unknown', 'HTTP 500'),
      failed('GET pix', 'unknown', 'HTTP 500'),
    ]);
  });
});

const failed = (call: string, outcome: string, why: string) => ({
  message: 'provider call failed',
  connection: '00000000000000000000000003',
  call,
  outcome,
  why,
});
