// Calls the simulated institution as Quita does, and compares its responses exactly.
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { Receiver } from '../world/receiver.ts';
import { makeAuthority } from './pixApi/authority.ts';
import type { FaultKind } from './pixApi/faults.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from './pixApi/startSimulator.ts';

const TXID = 'cobranca00000000000000000001';
const PROBLEM = 'https://pix.bcb.gov.br/api/v2/error/';
/** Efí then accepts a webhook that doesn’t demand mutual TLS. */
const SKIP = { 'x-skip-mtls-checking': 'true' };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: the institution's JSON, which the tests compare
  readonly body: any;
}

const opened: { close(): Promise<unknown> }[] = [];
const start = async (options: SimulatorOptions = {}): Promise<Simulator> => {
  const simulator = await startSimulator(options);
  opened.push(simulator);
  return simulator;
};
const receiver = async (...script: Parameters<typeof Receiver.open>): Promise<Receiver> => {
  const made = await Receiver.open(...script);
  opened.push(made);
  return made;
};

const agentOf = ({ ca, clientCertificate: cert, clientKey: key }: Simulator, withCertificate = true): Agent => {
  const identity = withCertificate && cert !== null && key !== null ? { cert, key } : {};
  const made = new Agent({ connect: { ...(ca === null ? {} : { ca }), ...identity } });
  opened.push({ close: () => made.destroy() });
  return made;
};

/** Calls the simulator as one of its clients. */
const caller = async (simulator: Simulator, { client = 0, scope = '' } = {}) => {
  const dispatcher = agentOf(simulator);
  const { clientId, clientSecret, pixKey } = simulator.clients[client] as Simulator['clients'][number];
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const send = async (
    method: string,
    url: string,
    body: string | null,
    headers: object,
    ms = 5_000,
  ): Promise<Reply> => {
    const answer = await request(url, {
      method,
      dispatcher,
      headers: { 'content-type': 'application/json', ...headers },
      body,
      headersTimeout: ms,
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json');
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
  const token = async (): Promise<string> => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === '' ? {} : { scope }) });
    const headers = { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' };
    return (await send('POST', simulator.tokenUrl, form.toString(), headers)).body.access_token;
  };
  let bearer = await token();
  const call = (method: string, path: string, body?: object, headers: object = {}): Promise<Reply> =>
    send(method, simulator.baseUrl + path, body === undefined ? null : JSON.stringify(body), {
      authorization: `Bearer ${bearer}`,
      ...headers,
    });
  return {
    pixKey,
    basic,
    send,
    call,
    impatient: (path: string) =>
      send('GET', simulator.baseUrl + path, null, { authorization: `Bearer ${bearer}` }, 200),
    renew: async () => {
      bearer = await token();
    },
    charge: (txid = TXID, change: object = {}) =>
      call('PUT', `/v2/cob/${txid}`, {
        calendario: { expiracao: 3600 },
        valor: { original: '12.34' },
        chave: pixKey,
        ...change,
      }),
    webhook: (url: string) => call('PUT', `/v2/webhook/${pixKey}`, { webhookUrl: url }),
    list: (filter = '') => call('GET', `/v2/pix?inicio=2026-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z${filter}`),
  };
};
const scene = async (options: SimulatorOptions = {}) => {
  const simulator = await start(options);
  return { simulator, client: await caller(simulator) };
};

const errorOf = ({ status, body }: Reply) => ({
  status,
  type: body.type?.replace(PROBLEM, ''),
  says: body.violacoes?.[0]?.razao,
});
const lost = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    () => 'lost',
  );
/** Returns the Pix of the callbacks that a receiver got. The registration call has none. */
const announced = ({ got }: Receiver) => got.flatMap(({ body }) => (body['pix'] as Record<string, unknown>[]) ?? []);

describe('the simulated institution', () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });

  describe('tokens', () => {
    it('are issued for Basic with a form, for a form alone, and for Basic with JSON', async () => {
      const { simulator, client } = await scene();
      const [{ clientId, clientSecret } = { clientId: '', clientSecret: '' }] = simulator.clients;
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const withForm = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`;
      const replies = [
        await client.send('POST', simulator.tokenUrl, 'grant_type=client_credentials', {
          ...form,
          authorization: client.basic,
        }),
        await client.send('POST', simulator.tokenUrl, withForm, form),
        await client.send('POST', simulator.tokenUrl, '{"grant_type":"client_credentials"}', {
          authorization: client.basic,
        }),
      ];
      expect(replies.map(({ status, body }) => [status, body.token_type, body.expires_in])).to.deep.equal(
        Array(3).fill([200, 'Bearer', 3600]),
      );
    });
    it('are refused for a wrong secret, another grant type and unknown scopes', async () => {
      const { simulator, client } = await scene();
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const of = async (text: string, authorization: string) => {
        const { status, body } = await client.send('POST', simulator.tokenUrl, text, { ...form, authorization });
        return [status, body];
      };
      const wrong = `Basic ${Buffer.from('simulated-client-1:x').toString('base64')}`;
      expect(await of('grant_type=client_credentials', wrong)).to.deep.equal([401, { error: 'invalid_client' }]);
      expect(await of('grant_type=password', client.basic)).to.deep.equal([400, { error: 'unsupported_grant_type' }]);
      expect(await of('grant_type=client_credentials&scope=none', client.basic)).to.deep.equal([
        400,
        { error: 'invalid_scope' },
      ]);
    });
    it('state their lifetime as configured', async () => {
      const { simulator, client } = await scene();
      const lifetime = async () =>
        (
          await client.send('POST', simulator.tokenUrl, '{"grant_type":"client_credentials"}', {
            authorization: client.basic,
          })
        ).body.expires_in;
      simulator.set({ tokenLifetimeSeconds: 60, tokenLifetimeAs: 'text' });
      expect(await lifetime()).to.equal('60');
      simulator.set({ tokenLifetimeAs: 'omitted' });
      expect(await lifetime()).to.equal(undefined);
    });
    it('can be expired, and are rejected for calls outside their scope', async () => {
      const { simulator, client } = await scene();
      simulator.expireTokens();
      expect(errorOf(await client.charge())).to.include({ status: 401, type: 'TokenInvalido' });
      await client.renew();
      expect((await client.charge()).status).to.equal(201);
      const reader = await caller(simulator, { scope: 'cob.read' });
      expect(errorOf(await reader.charge())).to.include({ status: 403, type: 'AcessoNegado' });
      expect((await reader.call('GET', `/v2/cob/${TXID}`)).status).to.equal(200);
    });
    it('give access to their own client’s charges and Pix only', async () => {
      const simulator = await start({ clients: [{}, {}] });
      const [one, two] = [await caller(simulator), await caller(simulator, { client: 1 })];
      await one.charge();
      const endToEndId = simulator.pay(TXID);
      expect(errorOf(await two.call('GET', `/v2/cob/${TXID}`))).to.include({ status: 404, type: 'CobNaoEncontrado' });
      expect(errorOf(await two.call('GET', `/v2/pix/${endToEndId}`))).to.include({
        status: 404,
        type: 'PixNaoEncontrado',
      });
      expect((await two.list()).body.pix).to.deep.equal([]);
      expect(errorOf(await two.charge(TXID, { chave: one.pixKey })).status).to.equal(400);
      expect((await two.charge()).status).to.equal(201);
      expect(() => simulator.pay(TXID)).to.throw('Several clients have this charge: "clientId" must say whose.');
      const own = simulator.pay(TXID, { clientId: 'simulated-client-2' });
      expect((await two.list()).body.pix.map((pix: { endToEndId: string }) => pix.endToEndId)).to.deep.equal([own]);
    });
  });

  describe('charges', () => {
    it('are created and read back unchanged', async () => {
      const { client } = await scene();
      const devedor = { nome: 'MARIA DE TESTE', cpf: '99992222263' };
      const { status, body } = await client.charge(TXID, { devedor, solicitacaoPagador: 'Pedido 1' });
      expect(status).to.equal(201);
      const { loc, location, pixCopiaECola, calendario, ...rest } = body;
      expect(rest).to.deep.equal({
        txid: TXID,
        revisao: 0,
        status: 'ATIVA',
        devedor,
        valor: { original: '12.34' },
        chave: client.pixKey,
        solicitacaoPagador: 'Pedido 1',
      });
      expect(calendario.expiracao).to.equal(3600);
      expect(loc).to.deep.equal({ id: 1, location, tipoCob: 'cob', criacao: calendario.criacao });
      expect(pixCopiaECola).to.match(new RegExp(`^000201010212.*${location}.*540512\\.34.*6304[0-9A-F]{4}$`));
      expect((await client.call('GET', `/v2/cob/${TXID}`)).body).to.deep.equal(body);
      expect((await client.call('GET', `/cob/${TXID}`)).body).to.deep.equal(body);
    });
    it('stay the same for an identical repeat, and get a revision for other content', async () => {
      const { simulator, client } = await scene();
      const first = await client.charge();
      expect((await client.charge()).body).to.deep.equal(first.body);
      const other = (await client.charge(TXID, { valor: { original: '99.00' } })).body;
      expect([other.revisao, other.valor.original, other.location]).to.deep.equal([1, '99.00', first.body.location]);
      expect((await client.call('GET', `/v2/cob/${TXID}?revisao=0`)).body).to.deep.equal(first.body);
      expect(errorOf(await client.call('GET', `/v2/cob/${TXID}?revisao=2`)).type).to.equal('CobConsultaInvalida');
      simulator.pay(TXID);
      expect(errorOf(await client.charge())).to.include({ status: 400, type: 'CobOperacaoInvalida' });
    });
    it('are refused for the violations that the standard lists', async () => {
      const { client } = await scene();
      const refused = async (change: object, txid = TXID) => errorOf(await client.charge(txid, change)).says;
      expect(await refused({ valor: { original: '12.3' } })).to.equal(
        'O campo cob.valor.original não respeita o _schema_.',
      );
      expect(await refused({ valor: { original: '0.00' } })).to.equal('O campo cob.valor.original é zero.');
      expect(await refused({ calendario: { expiracao: 0 } })).to.equal(
        'O campo cob.calendario.expiracao não respeita o _schema_.',
      );
      expect(await refused({ devedor: { nome: 'X' } })).to.match(/^O campo cob\.devedor/);
      expect(await refused({ chave: 'other@example.com' })).to.equal(
        'O campo cob.chave corresponde a uma conta que não pertence a este usuário recebedor.',
      );
      expect(await refused({}, 'short')).to.equal('O campo txid não respeita o _schema_.');
      expect(await refused({ loc: { id: 9 } })).to.equal('O location referenciado por loc.id inexiste.');
    });
    it('can be changed and removed only while they are ATIVA', async () => {
      const { client } = await scene();
      await client.charge();
      const path = `/v2/cob/${TXID}`;
      const removed = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' };
      const changed = (await client.call('PATCH', path, { calendario: { expiracao: 7200 } })).body;
      expect([changed.revisao, changed.calendario.expiracao, changed.valor.original]).to.deep.equal([1, 7200, '12.34']);
      expect(errorOf(await client.call('PATCH', path, { ...removed, valor: { original: '1.00' } })).says).to.equal(
        'A remoção não pode ser feita juntamente com outras alterações.',
      );
      const { status, revisao, pixCopiaECola } = (await client.call('PATCH', path, removed)).body;
      expect([status, revisao, pixCopiaECola]).to.deep.equal([removed.status, 2, undefined]);
      expect(errorOf(await client.call('PATCH', path, removed)).says).to.equal('A cobrança não está ATIVA.');
      expect(errorOf(await client.call('PATCH', '/v2/cob/absent', removed)).type).to.equal('CobNaoEncontrado');
    });
    it('are listed by period and page', async () => {
      const { client } = await scene();
      for (const n of [1, 2, 3]) await client.charge(TXID + n);
      const period = 'inicio=2026-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z';
      const { parametros, cobs } = (
        await client.call('GET', `/v2/cob?${period}&paginacao.itensPorPagina=2&paginacao.paginaAtual=1`)
      ).body;
      expect(cobs.map(({ txid }: { txid: string }) => txid)).to.deep.equal([`${TXID}3`]);
      expect(parametros).to.deep.equal({
        inicio: '2026-01-01T00:00:00Z',
        fim: '2099-01-01T00:00:00Z',
        paginacao: { paginaAtual: 1, itensPorPagina: 2, quantidadeDePaginas: 2, quantidadeTotalDeItens: 3 },
      });
    });
    it('get a txid from the institution when created with POST', async () => {
      const { client } = await scene();
      const { status, body } = await client.call('POST', '/v2/cob', {
        calendario: {},
        valor: { original: '1.00' },
        chave: client.pixKey,
      });
      expect([status, body.calendario.expiracao]).to.deep.equal([201, 86_400]);
      expect(body.txid).to.match(/^[a-zA-Z0-9]{32}$/);
    });
    it('are concluded by a payment of any amount, and can be removed by the institution', async () => {
      const { simulator, client } = await scene();
      await client.charge();
      await client.charge(`${TXID}2`);
      simulator.pay(TXID, { amount: 1 });
      simulator.remove(`${TXID}2`);
      expect((await client.call('GET', `/v2/cob/${TXID}`)).body.status).to.equal('CONCLUIDA');
      expect((await client.call('GET', `/v2/cob/${TXID}2`)).body.status).to.equal('REMOVIDA_PELO_PSP');
      expect(() => simulator.pay(TXID)).to.throw('The charge is CONCLUIDA.');
      expect(() => simulator.pay('absent')).to.throw('There is no such charge.');
      simulator.pay(TXID, { force: true });
      expect(
        (await client.call('GET', `/v2/cob/${TXID}`)).body.pix.map(({ valor }: { valor: string }) => valor),
      ).to.deep.equal(['0.01', '12.34']);
    });
    it('can’t be paid after they expire by the institution’s clock, but stay ATIVA', async () => {
      const { simulator, client } = await scene();
      await client.charge();
      simulator.setClock(61 * MINUTE_MS);
      expect(() => simulator.pay(TXID)).to.throw('The charge has expired.');
      expect((await client.call('GET', `/v2/cob/${TXID}`)).body.status).to.equal('ATIVA');
    });
  });

  describe('Pix received', () => {
    it('are returned with txid, key, components and time', async () => {
      const { simulator, client } = await scene();
      await client.charge();
      const paidAt = '2026-11-20T12:00:00.000Z';
      const endToEndId = simulator.pay(TXID, { paidAt, note: 'obrigado' });
      expect(endToEndId).to.match(/^E99999008202611201200[a-zA-Z0-9]{11}$/);
      const pix = {
        endToEndId,
        txid: TXID,
        valor: '12.34',
        componentesValor: { original: { valor: '12.34' } },
        chave: client.pixKey,
        horario: paidAt,
        infoPagador: 'obrigado',
      };
      expect((await client.call('GET', `/v2/pix/${endToEndId}`)).body).to.deep.equal(pix);
      expect((await client.call('GET', `/v2/cob/${TXID}`)).body.pix).to.deep.equal([pix]);
      expect(errorOf(await client.call('GET', '/v2/pix/absent'))).to.include({ status: 404, type: 'PixNaoEncontrado' });
    });
    it('show the payer as configured', async () => {
      const { simulator, client } = await scene({ settings: { payer: 'full' } });
      await client.charge();
      const payer = { name: 'ANA DE TESTE', document: '99994444409' };
      const endToEndId = simulator.pay(TXID, { payer });
      const shown = async () => (await client.call('GET', `/v2/pix/${endToEndId}`)).body.pagador;
      expect(await shown()).to.deep.equal({ nome: 'ANA DE TESTE', cpf: '99994444409' });
      simulator.set({ payer: 'masked' });
      expect(await shown()).to.deep.equal({ nome: 'ANA DE TESTE', cpf: '***.944.444-**' });
      simulator.set({ payer: 'none' });
      expect(await shown()).to.equal(undefined);
    });
    it('are listed by txid, by payer, and by presence of a txid or return', async () => {
      const { simulator, client } = await scene();
      await client.charge();
      const paid = simulator.pay(TXID, { payer: { document: '99994444409' } });
      const stray = simulator.payKey(client.pixKey, { amount: 500 });
      const fixed = simulator.payKey(client.pixKey, { amount: 600, txid: 'LOJA1' });
      simulator.returnPix(stray);
      const ids = async (filter: string) =>
        (await client.list(filter)).body.pix.map(({ endToEndId }: { endToEndId: string }) => endToEndId);
      expect(await ids('')).to.have.members([paid, stray, fixed]);
      expect(await ids(`&txid=${TXID}`)).to.deep.equal([paid]);
      expect(await ids('&txid=LOJA1')).to.deep.equal([fixed]);
      expect(await ids(`&txid=${TXID}&cpf=99994444409`)).to.deep.equal([paid]);
      expect(await ids(`&txid=${TXID}&cpf=99991111140`)).to.deep.equal([]);
      expect(await ids('&txIdPresente=false')).to.deep.equal([stray]);
      expect(await ids('&devolucaoPresente=true')).to.deep.equal([stray]);
    });
    it('are not listed for parameters that the standard forbids', async () => {
      const { client } = await scene();
      const says = async (query: string) => {
        const { status, type, says: text } = errorOf(await client.call('GET', `/v2/pix?${query}`));
        expect([status, type]).to.deep.equal([400, 'PixConsultaInvalida']);
        return text;
      };
      const period = 'inicio=2026-01-01T00:00:00Z&fim=2026-01-02T00:00:00Z';
      expect(await says('inicio=2026-01-01T00:00:00Z')).to.equal('O parâmetro fim é obrigatório.');
      expect(await says('inicio=2026-01-02T00:00:00Z&fim=2026-01-01T00:00:00Z')).to.equal(
        'O parâmetro fim é anterior ao parâmetro inicio.',
      );
      expect(await says('inicio=yesterday&fim=2026-01-01T00:00:00Z')).to.equal(
        'O parâmetro inicio não respeita o _schema_.',
      );
      expect(await says(`${period}&cpf=99991111140&cnpj=12345678000195`)).to.equal(
        'Os parâmetros cpf e cnpj não podem ser usados juntos.',
      );
      for (const name of ['paginacao.paginaAtual=-1', 'paginacao.itensPorPagina=0', 'paginacao.itensPorPagina=1001'])
        expect(await says(`${period}&${name}`)).to.match(/^O parâmetro paginacao\./);
    });
    it('are listed in pages for a period with 20,000 of them', async () => {
      const { simulator, client } = await scene();
      const [from, to] = ['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'];
      simulator.receiveMany(client.pixKey, { count: 20_000, amount: 100, from, to });
      const page = async (n: number) =>
        (await client.list(`&paginacao.itensPorPagina=1000&paginacao.paginaAtual=${n}`)).body;
      const last = await page(19);
      expect(last.parametros.paginacao).to.deep.equal({
        paginaAtual: 19,
        itensPorPagina: 1_000,
        quantidadeDePaginas: 20,
        quantidadeTotalDeItens: 20_000,
      });
      expect(last.pix.at(-1).horario).to.equal(to);
      expect((await page(0)).pix[0].horario).to.equal(from);
      expect((await page(20)).pix).to.deep.equal([]);
      expect(simulator.balance()).to.equal(2_000_000);
    });
  });

  describe('returns', () => {
    const paid = async (options: SimulatorOptions = {}) => {
      const { simulator, client } = await scene(options);
      await client.charge();
      const endToEndId = simulator.pay(TXID);
      const path = (id: string) => `/v2/pix/${endToEndId}/devolucao/${id}`;
      return {
        simulator,
        client,
        endToEndId,
        path,
        give: (id: string, valor: string) => client.call('PUT', path(id), { valor }),
      };
    };
    it('start EM_PROCESSAMENTO and then become DEVOLVIDO', async () => {
      const { client, give, path } = await paid();
      const { status, body } = await give('r1', '2.00');
      const { rtrId, horario, ...rest } = body;
      expect([status, rest]).to.deep.equal([
        201,
        { id: 'r1', valor: '2.00', natureza: 'ORIGINAL', status: 'EM_PROCESSAMENTO' },
      ]);
      expect(rtrId).to.match(/^D99999007[0-9]{12}[a-zA-Z0-9]{11}$/);
      const after = (await client.call('GET', path('r1'))).body;
      expect(after).to.deep.equal({
        ...body,
        status: 'DEVOLVIDO',
        horario: { ...horario, liquidacao: after.horario.liquidacao },
      });
      expect((await client.call('GET', `/v2/cob/${TXID}`)).body.pix[0].devolucoes).to.deep.equal([after]);
      expect(errorOf(await client.call('GET', path('r2'))).type).to.equal('PixDevolucaoNaoEncontrada');
    });
    it('are refused for a repeated id, an excessive or zero amount, and after 90 days', async () => {
      const { simulator, give } = await paid({ settings: { returns: 'processing' } });
      await give('r1', '2.00');
      const refused = async (id: string, valor: string) => errorOf(await give(id, valor));
      expect(await refused('r1', '2.00')).to.deep.equal({
        status: 400,
        type: 'PixDevolucaoInvalida',
        says: 'A presente requisição de devolução apresenta um {id} já utilizado por outra requisição de devolução.',
      });
      expect((await refused('r1', '1.00')).status).to.equal(400);
      expect((await refused('r2', '10.35')).says).to.match(/excederia o valor do pix/);
      expect((await refused('r2', '0.00')).says).to.equal('O campo devolucao.valor é zero.');
      simulator.setClock(90 * DAY_MS + MINUTE_MS);
      expect((await refused('r2', '1.00')).says).to.match(/90 dias/);
    });
    it('are decided by the control API, and a refused return frees its amount but not its id', async () => {
      const { simulator, client, endToEndId, give, path } = await paid({ settings: { returns: 'processing' } });
      await give('r1', '12.34');
      simulator.decideReturn(endToEndId, 'r1', 'refused', 'Conta encerrada');
      const { status, motivo, horario } = (await client.call('GET', path('r1'))).body;
      expect([status, motivo, horario.liquidacao]).to.deep.equal(['NAO_REALIZADO', 'Conta encerrada', undefined]);
      expect((await give('r1', '12.34')).status).to.equal(400);
      expect((await give('r2', '12.34')).status).to.equal(201);
      simulator.decideReturn(endToEndId, 'r2', 'done');
      expect(simulator.balance()).to.equal(0);
      expect(() => simulator.decideReturn(endToEndId, 'r2', 'refused')).to.throw('The return is DEVOLVIDO.');
    });
    it('can be started by the institution too', async () => {
      const { simulator, client, endToEndId, give } = await paid();
      const id = simulator.returnPix(endToEndId, { amount: 1_000, nature: 'MED_FRAUDE', reason: 'Golpe' });
      const [given] = (await client.call('GET', `/v2/pix/${endToEndId}`)).body.devolucoes;
      expect([given.id, given.natureza, given.valor, given.status, given.motivo]).to.deep.equal([
        id,
        'MED_FRAUDE',
        '10.00',
        'DEVOLVIDO',
        'Golpe',
      ]);
      expect((await give('r1', '2.35')).status).to.equal(400);
      expect(() => simulator.returnPix(endToEndId, { amount: 235 })).to.throw('Only 234 can still be returned.');
    });
  });

  describe('callbacks', () => {
    const registered = async (options: SimulatorOptions = {}, ...script: Parameters<typeof Receiver.open>) => {
      const { simulator, client } = await scene(options);
      const hook = await receiver(...script);
      expect((await client.webhook(`${hook.url}/secret`)).status).to.equal(200);
      await client.charge();
      return { simulator, client, hook };
    };
    it('start with a test call without pix, which the webhook must answer with 2xx', async () => {
      const { client, hook } = await registered();
      expect(hook.got.map(({ path, body }) => [path, body['evento'], body['pix']])).to.deep.equal([
        ['/hook/secret', 'teste_webhook', undefined],
      ]);
      const broken = await receiver((_hit, res) => void res.writeHead(500).end());
      expect(errorOf(await client.webhook(broken.url))).to.include({ status: 400, type: 'WebhookOperacaoInvalida' });
      const { criacao, ...rest } = (await client.call('GET', `/v2/webhook/${client.pixKey}`)).body;
      expect(rest).to.deep.equal({ webhookUrl: `${hook.url}/secret`, chave: client.pixKey, cnpj: '99999000000001' });
      expect((await client.call('GET', '/v2/webhook')).body.webhooks).to.deep.equal([{ ...rest, criacao }]);
      expect((await client.call('DELETE', `/v2/webhook/${client.pixKey}`)).status).to.equal(204);
      expect(errorOf(await client.call('GET', `/v2/webhook/${client.pixKey}`)).type).to.equal('WebhookNaoEncontrado');
    });
    it('announce a payment and its return', async () => {
      const { simulator, client, hook } = await registered();
      const endToEndId = simulator.pay(TXID);
      await simulator.whenAccepted(1);
      await client.call('PUT', `/v2/pix/${endToEndId}/devolucao/r1`, { valor: '1.00' });
      await simulator.whenAccepted(2);
      expect(hook.got.slice(1).map(({ path }) => path)).to.deep.equal(['/hook/secret/pix', '/hook/secret/pix']);
      const pix = (await client.call('GET', `/v2/pix/${endToEndId}`)).body;
      const { devolucoes: _, ...before } = pix;
      expect(announced(hook)).to.deep.equal([before, pix]);
    });
    it('are sent for a Pix without txid only if configured', async () => {
      const { simulator, client, hook } = await registered();
      simulator.payKey(client.pixKey, { amount: 100 });
      expect(simulator.state().callbacks.counts.announced).to.equal(0);
      simulator.set({ callbacksWithoutTxid: true });
      const endToEndId = simulator.payKey(client.pixKey, { amount: 100 });
      await simulator.whenAccepted(1);
      expect(announced(hook).map((pix) => pix['endToEndId'])).to.deep.equal([endToEndId]);
    });
    it('are retried after a pause until the response is 2xx', async () => {
      const { simulator, hook } = await registered(
        { settings: { callbackRetryMs: 1 } },
        (_hit, res, n) => void res.writeHead(n === 2 || n === 3 ? 500 : 200).end(),
      );
      simulator.pay(TXID);
      await simulator.whenAccepted(1);
      expect(announced(hook)).to.have.length(3);
      expect(simulator.state().callbacks.counts).to.deep.equal({
        announced: 1,
        accepted: 1,
        failed: 2,
        dropped: 0,
        givenUp: 0,
      });
    });
    it('are kept while paused, then sent in batches, newest first and repeatedly as configured', async () => {
      const { simulator, client, hook } = await registered();
      simulator.pauseCallbacks();
      const ids = [simulator.pay(TXID)];
      for (const n of [2, 3]) {
        await client.charge(TXID + n);
        ids.push(simulator.pay(TXID + n));
      }
      expect(announced(hook)).to.have.length(0);
      simulator.set({ callbackBatch: 2, callbackOrder: 'newestFirst', callbackRepeats: 2 });
      expect(await simulator.flushCallbacks()).to.deep.equal({ accepted: 3, pending: 0 });
      const bodies = hook.got
        .slice(1)
        .map(({ body }) => (body['pix'] as { endToEndId: string }[]).map((pix) => pix.endToEndId));
      expect(bodies).to.deep.equal([[ids[2], ids[1]], [ids[2], ids[1]], [ids[0]], [ids[0]]]);
    });
    it('are lost while dropping, and can be sent again on request', async () => {
      const { simulator, client, hook } = await registered();
      simulator.dropCallbacks();
      const lostId = simulator.pay(TXID);
      simulator.resumeCallbacks();
      await client.charge(`${TXID}2`);
      const endToEndId = simulator.pay(`${TXID}2`);
      await simulator.whenAccepted(1);
      expect(announced(hook).map((pix) => pix['endToEndId'])).to.deep.equal([endToEndId]);
      simulator.announceAgain(lostId);
      await simulator.whenAccepted(2);
      expect(announced(hook)[1]?.['endToEndId']).to.equal(lostId);
    });
    it('carry the return as an object and the payer in Efí’s field if configured', async () => {
      const { simulator, hook } = await registered();
      simulator.set({ callbackReturnsAs: 'object', payer: 'full', dialect: 'efi' });
      simulator.returnPix(simulator.pay(TXID));
      await simulator.whenAccepted(2);
      const last = announced(hook)[1] as { devolucoes: { status: string }; gnExtras: unknown };
      expect(last.devolucoes.status).to.equal('DEVOLVIDO');
      expect(last.gnExtras).to.deep.equal({
        pagador: { nome: 'PAGADOR DE TESTE', cpf: '99991111140', codigoBanco: '99999008' },
      });
    });
  });

  describe("Efí's Pix-out", () => {
    const order = (chave: string) => ({
      valor: '5.00',
      pagador: { chave, infoPagador: 'saque' },
      favorecido: { chave: 'ana@example.com' },
    });
    it('is accepted, paid and announced', async () => {
      const { simulator, client } = await scene();
      const hook = await receiver();
      await client.webhook(hook.url);
      const { status, body } = await client.call('PUT', '/v3/gn/pix/envio1', order(client.pixKey));
      const { e2eId, horario, ...rest } = body;
      expect([status, rest]).to.deep.equal([201, { idEnvio: 'envio1', valor: '5.00', status: 'EM_PROCESSAMENTO' }]);
      await simulator.whenAccepted(1);
      const read = (await client.call('GET', '/v2/gn/pix/enviados/id-envio/envio1')).body;
      const { liquidacao } = read.horario;
      expect(read).to.deep.equal({
        endToEndId: e2eId,
        idEnvio: 'envio1',
        valor: '5.00',
        chave: client.pixKey,
        status: 'REALIZADO',
        infoPagador: 'saque',
        horario: { ...horario, liquidacao },
        favorecido: { chave: 'ana@example.com', identificacao: { nome: 'FAVORECIDO DE TESTE', cpf: '***.955.555-**' } },
      });
      expect((await client.call('GET', `/v2/gn/pix/enviados/${e2eId}`)).body).to.deep.equal(read);
      expect(announced(hook)).to.deep.equal([
        {
          endToEndId: e2eId,
          chave: client.pixKey,
          tipo: 'SOLICITACAO',
          status: 'REALIZADO',
          valor: '5.00',
          horario: liquidacao,
          infoPagador: 'saque',
          gnExtras: { idEnvio: 'envio1' },
        },
      ]);
      expect((await client.call('GET', '/v2/gn/saldo')).body).to.deep.equal({ saldo: '-5.00' });
    });
    it('is refused for a repeated id, with the same or other content, and for a foreign key', async () => {
      const { client } = await scene();
      await client.call('PUT', '/v3/gn/pix/envio1', order(client.pixKey));
      for (const valor of ['5.00', '6.00']) {
        const { status, body } = await client.call('PUT', '/v3/gn/pix/envio1', { ...order(client.pixKey), valor });
        expect([status, body.nome]).to.deep.equal([409, 'id_envio_duplicado']);
      }
      const { status, body } = await client.call('PUT', '/v3/gn/pix/envio2', order('other@example.com'));
      expect([status, body.nome]).to.deep.equal([400, 'chave_invalida']);
      expect(errorOf(await client.call('GET', '/v2/gn/pix/enviados/id-envio/envio2')).type).to.equal(
        'PixEnviadoNaoEncontrado',
      );
    });
    it('is decided by the control API', async () => {
      const { simulator, client } = await scene({ settings: { payouts: 'processing' } });
      const hook = await receiver();
      await client.webhook(hook.url);
      await client.call('PUT', '/v3/gn/pix/envio1', order(client.pixKey));
      simulator.decidePayout('envio1', 'refused', 'Chave inexistente');
      await simulator.whenAccepted(1);
      const [sent] = announced(hook) as [{ status: string; horario: null; gnExtras: unknown }];
      expect([sent.status, sent.horario, sent.gnExtras]).to.deep.equal([
        'NAO_REALIZADO',
        null,
        {
          idEnvio: 'envio1',
          erro: { codigo: 'AC03', origem: 'PSP do usuário recebedor', motivo: 'Chave inexistente' },
        },
      ]);
      expect((await client.call('GET', '/v2/gn/pix/enviados/id-envio/envio1')).body.status).to.equal('NAO_REALIZADO');
      expect(simulator.balance()).to.equal(0);
    });
  });

  describe('the dialect of Efí', () => {
    const efi = () => scene({ settings: { dialect: 'efi' } });
    const named = ({ status, body }: Reply) => [status, body.nome];
    it('responds with 400 if something is absent and 409 to repeats, and names the error', async () => {
      const { simulator, client } = await efi();
      const path = `/v2/cob/${TXID}`;
      expect(named(await client.call('GET', path))).to.deep.equal([400, 'cobranca_nao_encontrada']);
      expect(named(await client.charge(TXID, { chave: 'other@example.com' }))).to.deep.equal([400, 'chave_invalida']);
      expect(named(await client.charge(TXID, { valor: { original: '0.00' } }))).to.deep.equal([400, 'valor_invalido']);
      expect((await client.charge()).status).to.equal(201);
      expect(named(await client.charge())).to.deep.equal([409, 'txid_duplicado']);
      expect((await client.call('GET', path)).body.calendario.expiracao).to.equal('3600');
      const endToEndId = simulator.pay(TXID);
      const removed = await client.call('PATCH', path, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' });
      expect(named(removed)).to.deep.equal([400, 'status_cobranca_invalido']);
      const given = `/v2/pix/${endToEndId}/devolucao/r1`;
      expect(named(await client.call('GET', given))).to.deep.equal([400, 'devolucao_nao_encontrada']);
      expect((await client.call('PUT', given, { valor: '1.00' })).status).to.equal(201);
      for (const valor of ['1.00', '2.00'])
        expect(named(await client.call('PUT', given, { valor }))).to.deep.equal([409, 'devolucao_id_duplicado']);
      expect(named(await client.call('GET', '/v2/pix/absent'))).to.deep.equal([400, 'pix_nao_encontrado']);
      simulator.fault({ on: '*', kind: '422' });
      expect(named(await client.call('GET', path))).to.deep.equal([422, 'pagamento_negado']);
    });
    it('refuses a webhook that responds to a call without certificate, unless the header skips the check', async () => {
      const { simulator, client } = await efi();
      const hook = await receiver();
      expect(named(await client.webhook(hook.url))).to.deep.equal([400, 'webhook_invalido']);
      const skipped = await client.call('PUT', `/v2/webhook/${client.pixKey}`, { webhookUrl: hook.url }, SKIP);
      expect(skipped.status).to.equal(201);
      await client.charge();
      simulator.pay(TXID);
      await simulator.whenAccepted(1);
      expect(hook.got.map(({ path }) => path)).to.deep.equal(['/hook', '/hook', '/hook/pix']);
    });
  });

  describe('faults', () => {
    const path = `/v2/cob/${TXID}`;
    const spoiled = async (kind: FaultKind) => {
      const { simulator, client } = await scene();
      await client.charge();
      simulator.fault({ on: 'charge.read', kind });
      return { simulator, client };
    };
    for (const kind of ['timeout', 'reset', 'lost'] as const)
      it(`prevent a complete response: ${kind}`, async () => {
        const { client } = await spoiled(kind);
        expect(await lost(client.impatient(path))).to.equal('lost');
        expect((await client.call('GET', path)).status).to.equal(200);
      });
    for (const kind of ['409', '422', '429', '500', '503'] as const)
      it(`respond with a problem: ${kind}`, async () => {
        const { client } = await spoiled(kind);
        const { status, body, headers } = await client.call('GET', path);
        expect([status, body.status]).to.deep.equal([Number(kind), Number(kind)]);
        expect(headers['retry-after']).to.equal(kind === '429' ? '1' : undefined);
      });
    for (const kind of ['200', '202', '204'] as const)
      it(`respond without a body: ${kind}`, async () => {
        const { client } = await spoiled(kind);
        const { status, body } = await client.call('GET', path);
        expect([status, body]).to.deep.equal([Number(kind), '']);
      });
    it('respond with other bodies', async () => {
      const { simulator, client } = await spoiled('null');
      expect((await client.call('GET', path)).body).to.equal(null);
      const truth = (await client.call('GET', path)).body;
      const next = async (kind: FaultKind) => {
        simulator.fault({ on: 'charge.read', kind, ms: 10 });
        return client.call('GET', path);
      };
      expect((await next('list')).body).to.deep.equal([truth]);
      expect((await next('html')).body).to.match(/^<!DOCTYPE html>/);
      expect((await next('statusAsText')).body.status).to.equal('500');
      expect((await next('wrongTypes')).body).to.deep.include({ revisao: '0', txid: TXID.length });
      expect((await next('slow')).body).to.deep.equal(truth);
      expect(await lost(next('garbage'))).to.equal('lost'); // JSON.parse throws.
      expect(await lost(next('empty'))).to.equal('lost');
    });
    it('expire the token: 401', async () => {
      const { client } = await spoiled('401');
      expect((await client.call('GET', path)).status).to.equal(401);
      expect((await client.call('GET', path)).status).to.equal(401);
      await client.renew();
      expect((await client.call('GET', path)).status).to.equal(200);
    });
    it('occur before or after the effect of the call', async () => {
      const { simulator, client } = await scene();
      simulator.fault({ on: 'charge.create', kind: '500', when: 'before' });
      expect((await client.charge()).status).to.equal(500);
      expect((await client.call('GET', path)).status).to.equal(404);
      simulator.fault({ on: 'charge.create', kind: 'reset', when: 'after' });
      expect(await lost(client.charge())).to.equal('lost');
      expect((await client.call('GET', path)).status).to.equal(200);
    });
    it('affect exactly the calls they were ordered for, which are counted', async () => {
      const { simulator, client } = await scene();
      simulator.fault({ on: '*', kind: '503', skip: 1, times: 2, matching: '/cob/' });
      const statuses = [];
      for (let i = 0; i < 4; i++) statuses.push((await client.charge()).status);
      expect(statuses).to.deep.equal([201, 503, 503, 201]);
      simulator.fault({ on: 'token', kind: '500', times: null });
      expect(await lost(client.renew())).to.equal('answered');
      simulator.clearFaults();
      await client.renew();
      expect((await client.charge()).status).to.equal(201);
      expect([simulator.calls('charge.create'), simulator.calls('token')]).to.deep.equal([5, 3]);
      expect(() => simulator.fault({ on: '*', kind: 'rain' as FaultKind })).to.throw('"kind" must be one of');
    });
    it('release a hanging call when the simulator closes', async () => {
      const { simulator, client } = await scene();
      simulator.fault({ on: 'charge.create', kind: 'timeout', when: 'after' });
      const hanging = lost(client.charge());
      await simulator.whenCalled('charge.create');
      await simulator.close();
      expect(await hanging).to.equal('lost');
    });
  });

  describe('its control API', () => {
    it('pays, returns and lists like the typed actions', async () => {
      const { simulator, client } = await scene();
      await client.charge();
      const control = async (method: string, path: string, body: object | null = null) => {
        const text = body === null ? null : JSON.stringify(body);
        const { status, body: answer } = await client.send(method, simulator.controlUrl + path, text, {});
        return [status, answer];
      };
      const [, { endToEndId }] = await control('POST', `/charges/${TXID}/pay`, {
        amount: 700,
        paidAt: '2026-11-20T02:30:00.000Z',
      });
      const [, { id }] = await control('POST', `/pix/${endToEndId}/return`, { amount: 100, nature: 'MED_OPERACIONAL' });
      const [status, state] = await control('GET', '/state');
      expect([status, state.clients[0].balance]).to.deep.equal([200, 600]);
      expect(state.clients[0].received[0]).to.deep.include({ endToEndId, txid: TXID, amount: 700 });
      expect(state.clients[0].received[0].returns[0]).to.deep.include({
        id,
        isForeign: true,
        nature: 'MED_OPERACIONAL',
      });
      expect(state.clients[0].charges[0]).to.deep.include({ txid: TXID, status: 'CONCLUIDA', received: [endToEndId] });
      const [, statement] = await control('GET', '/statement?day=2026-11-19');
      expect(statement).to.deep.include({ opening: 0, received: 700, returned: 0, closing: 700 });
      expect(await control('POST', `/charges/${TXID}/pay`, {})).to.deep.equal([
        409,
        { error: 'The charge is CONCLUIDA.' },
      ]);
      expect(await control('POST', '/settings', { payer: 'some' })).to.deep.equal([
        400,
        { error: '"payer" must be one of: none, full, masked.' },
      ]);
      expect(await control('POST', '/settings', { colour: 1 })).to.deep.equal([
        400,
        { error: '"colour" is not a setting.' },
      ]);
      expect(await control('POST', `/charges/${TXID}/pay`, { ammount: 1 })).to.deep.equal([
        400,
        { error: '"ammount" is not a known field.' },
      ]);
      expect(await control('GET', '/rain')).to.deep.equal([404, { error: 'There is no GET /rain.' }]);
    });
    it('shows statements by the day in São Paulo, with fees', async () => {
      const { simulator, client } = await scene({ settings: { feeReceived: 10 } });
      simulator.payKey(client.pixKey, { amount: 500, paidAt: '2026-11-20T02:59:59.999Z' });
      simulator.payKey(client.pixKey, { amount: 900, paidAt: '2026-11-20T03:00:00.000Z' });
      const { lines, ...sums } = simulator.statement('2026-11-20');
      expect(sums).to.deep.equal({
        day: '2026-11-20',
        opening: 490,
        received: 900,
        returned: 0,
        paidOut: 0,
        fees: -10,
        closing: 1_380,
      });
      expect(lines.map(({ kind, amount }) => [kind, amount])).to.deep.equal([
        ['received', 900],
        ['fee', -10],
      ]);
    });
  });

  describe('TLS', () => {
    it('mutual: uses the simulator’s own authority and rejects calls without the client certificate', async () => {
      const { simulator, client } = await scene({ tls: 'mutual' });
      expect(simulator.baseUrl).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
      expect((await client.charge()).status).to.equal(201);
      const stranger = request(`${simulator.baseUrl}/v2/cob/${TXID}`, { dispatcher: agentOf(simulator, false) });
      expect(await lost(stranger)).to.equal('lost');
      simulator.fault({ on: 'charge.read', kind: 'reset' });
      expect(await lost(client.impatient(`/v2/cob/${TXID}`))).to.equal('lost');
    });
    it('presents the client certificate to a webhook that requires it, also in the dialect of Efí', async () => {
      const authority = makeAuthority();
      const subjects: string[] = [];
      const server = createServer(
        {
          key: authority.serverKey,
          cert: authority.serverCertificate,
          ca: authority.ca,
          requestCert: true,
          rejectUnauthorized: true,
        },
        (req, res) => {
          subjects.push(String((req.socket as TLSSocket).getPeerCertificate().subject.CN));
          res.end();
        },
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      opened.push({ close: async () => void server.close().closeAllConnections() });
      const { client } = await scene({ tls: 'mutual', authority, settings: { dialect: 'efi' } });
      const { port } = server.address() as AddressInfo;
      expect((await client.webhook(`https://localhost:${port}/secret`)).status).to.equal(201);
      expect(subjects).to.deep.equal(['Quita simulator client']);
    });
    it('supports an early end of the client certificate and other host names of the server', () => {
      const clientUntil = new Date('2026-12-24T18:30:00.000Z');
      const { ca, clientCertificate, serverCertificate } = makeAuthority({ hostNames: ['bank.test'], clientUntil });
      const client = new X509Certificate(clientCertificate);
      const server = new X509Certificate(serverCertificate);
      const issuer = new X509Certificate(ca);
      expect([client.verify(issuer.publicKey), server.verify(issuer.publicKey), issuer.ca]).to.deep.equal([
        true,
        true,
        true,
      ]);
      expect(client.validToDate).to.deep.equal(clientUntil);
      expect([server.checkHost('bank.test'), server.checkHost('localhost'), server.checkIP('127.0.0.1')]).to.deep.equal(
        ['bank.test', 'localhost', '127.0.0.1'],
      );
      expect(server.checkHost('other.test')).to.equal(undefined);
    });
    it('server: requires no client certificate', async () => {
      const simulator = await start({ tls: 'server' });
      const answer = await request(`${simulator.baseUrl}/v2/cob/${TXID}`, { dispatcher: agentOf(simulator, false) });
      await answer.body.dump();
      expect(answer.statusCode).to.equal(401);
    });
  });
});
