// Efí’s official client against the simulator, as an independent reader. Its package also declares the form of each answer, with which the
// simulator’s answers are compared.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as efi from 'sdk-node-apis-efi';
import { makeAuthority } from '../simulators/pixApi/authority.ts';
import { type Simulator, startSimulator } from '../simulators/pixApi/startSimulator.ts';
import type { Order, Outcome } from './efiSdk/program.ts';

const EFI_HOST = 'pix-h.api.efipay.com.br';
const TXID = 'cobranca00000000000000000001';
const PERIOD = { inicio: '2026-01-01T00:00:00Z', fim: '2099-01-01T00:00:00Z' };

/** Runs the client in a separate process, because Node reads additional certificate authorities only at its start. */
class Client {
  readonly #program: ChildProcess;
  #last = 0;

  constructor({ clients: [client], baseUrl }: Simulator, folder: string) {
    this.#program = fork(join(import.meta.dirname, 'efiSdk/program.ts'), {
      env: {
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        EFI_HOST,
        SIMULATOR_PORT: new URL(baseUrl).port,
        EFI_OPTIONS: JSON.stringify({
          sandbox: true,
          client_id: client?.clientId,
          client_secret: client?.clientSecret,
          certificate: join(folder, 'client.pem'),
          pemKey: join(folder, 'client.key'),
        }),
      },
    });
  }

  call(method: string, ...args: readonly unknown[]): Promise<Outcome> {
    this.#last += 1;
    const order: Order = { id: this.#last, method, args };
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('The client ended.'));
      const onMessage = (outcome: Outcome): void => {
        if (outcome.id !== order.id) return;
        this.#program.off('message', onMessage).off('exit', onExit);
        resolve(outcome);
      };
      this.#program.on('message', onMessage).once('exit', onExit).send(order);
    });
  }

  close(): void {
    this.#program.kill();
  }
}

interface Form {
  safeParse(value: unknown): {
    readonly error?: {
      readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
    };
  };
}
/** Returns where the value differs from the package’s declaration. */
const differences = (form: Form, value: unknown): readonly string[] =>
  (form.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

/** Efí’s documentation has a string here (https://dev.efipay.com.br/docs/api-pix/cobrancas-imediatas), and so does the simulator. */
const TEXT = 'calendario.expiracao: Invalid input: expected number, received string';
/** Fields of the central bank’s standard that Efí’s documentation omits. */
const NATURE = 'devolucoes.0: Unrecognized key: "natureza"';

describe('the official client of Efí on the simulator', () => {
  let folder: string;
  let simulator: Simulator;
  let client: Client;
  let key: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quita-efi-'));
    simulator = await startSimulator({
      tls: 'mutual',
      authority: makeAuthority({ hostNames: [EFI_HOST] }),
      settings: { dialect: 'efi' },
    });
    key = simulator.clients[0]?.pixKey ?? '';
    const files = {
      'ca.pem': simulator.ca,
      'client.pem': simulator.clientCertificate,
      'client.key': simulator.clientKey,
    };
    await Promise.all(Object.entries(files).map(([name, pem]) => writeFile(join(folder, name), pem ?? '')));
    client = new Client(simulator, folder);
  });
  after(async () => {
    client.close();
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  /** Returns the client’s value, and expects exactly these differences from the declared form. */
  const call = async (form: Form, differing: readonly string[], method: string, ...args: readonly unknown[]) => {
    const { value, error } = await client.call(method, ...args);
    expect(error).to.equal(undefined);
    expect(differences(form, value)).to.deep.equal(differing);
    // biome-ignore lint/suspicious/noExplicitAny: the institution's JSON, which the tests compare
    return value as any;
  };
  const create = (txid: string) =>
    client.call(
      'pixCreateCharge',
      { txid },
      { calendario: { expiracao: 3600 }, valor: { original: '12.34' }, chave: key },
    );

  it('creates and reads a charge, sees it paid, returns a part and reads the return', async () => {
    const terms = {
      calendario: { expiracao: 3600 },
      devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
      valor: { original: '12.34' },
      chave: key,
      solicitacaoPagador: 'Pedido 1',
    };
    const made = await call(efi.PixCreateChargeResponseSchema, [], 'pixCreateCharge', { txid: TXID }, terms);
    expect([made.txid, made.status, made.valor]).to.deep.equal([TXID, 'ATIVA', { original: '12.34' }]);

    const read = await call(efi.PixDetailChargeResponseSchema, [TEXT], 'pixDetailCharge', { txid: TXID });
    expect(read).to.deep.equal({ ...made, calendario: { ...made.calendario, expiracao: '3600' } });

    const e2eId = simulator.pay(TXID);
    const pix = await call(efi.PixDetailReceivedResponseSchema, [], 'pixDetailReceived', { e2eId });
    expect([pix.endToEndId, pix.txid, pix.valor, pix.chave]).to.deep.equal([e2eId, TXID, '12.34', key]);

    const back = { e2eId, id: 'devolucao1' };
    const asked = await call(efi.PixDevolutionResponseSchema, [], 'pixDevolution', back, { valor: '2.34' });
    expect([asked.id, asked.valor, asked.status]).to.deep.equal(['devolucao1', '2.34', 'EM_PROCESSAMENTO']);
    const done = await call(efi.PixDetailDevolutionResponseSchema, [], 'pixDetailDevolution', back);
    expect([done.rtrId, done.valor, done.status]).to.deep.equal([asked.rtrId, '2.34', 'DEVOLVIDO']);

    const beyond = [TEXT, `pix.0.${NATURE}`, 'pix.0: Unrecognized keys: "componentesValor", "chave"'];
    const paid = await call(efi.PixDetailChargeResponseSchema, beyond, 'pixDetailCharge', { txid: TXID });
    expect([paid.status, paid.pix[0].endToEndId, paid.pix[0].devolucoes]).to.deep.equal(['CONCLUIDA', e2eId, [done]]);
    const list = await call(efi.PixListReceivedResponseSchema, [`pix.0.${NATURE}`], 'pixReceivedList', PERIOD);
    expect(list.pix).to.deep.equal([{ ...pix, devolucoes: [done] }]);
    expect(simulator.balance()).to.equal(1_000);
  });

  it('gets Efí’s error format for a missing charge and for a duplicate', async () => {
    const txid = 'cobranca00000000000000000002';
    expect((await client.call('pixDetailCharge', { txid })).error).to.deep.equal({
      nome: 'cobranca_nao_encontrada',
      mensagem: 'Nenhuma cobrança encontrada para o txid informado',
    });
    expect((await create(txid)).error).to.equal(undefined);
    expect((await create(txid)).error).to.deep.equal({
      nome: 'txid_duplicado',
      mensagem: 'Campo txid informado já foi utilizado em outra cobrança',
    });
  });

  it('sends a Pix and reads it', async () => {
    const order = { valor: '1.00', pagador: { chave: key }, favorecido: { chave: '99991111140' } };
    // Efí’s documentation names the id e2eId (https://dev.efipay.com.br/docs/api-pix/envio-pagamento-pix/), the package endToEndId.
    const named = ['endToEndId: Invalid input: expected string, received undefined'];
    const sent = await call(efi.PixSendResponseSchema, named, 'pixSend', { idEnvio: 'envio1' }, order);
    expect([sent.idEnvio, sent.valor, sent.status]).to.deep.equal(['envio1', '1.00', 'EM_PROCESSAMENTO']);
    // The documentation includes the receiver, the package doesn’t.
    const receiver = ['favorecido: Invalid input'];
    const read = await call(efi.PixSendDetailIdResponseSchema, receiver, 'pixSendDetailId', { idEnvio: 'envio1' });
    expect([read.endToEndId, read.idEnvio, read.status]).to.deep.equal([sent.e2eId, 'envio1', 'REALIZADO']);
    expect((await client.call('pixSend', { idEnvio: 'envio1' }, order)).error).to.deep.equal({
      nome: 'id_envio_duplicado',
      mensagem: 'O id de envio informado já foi utilizado em outro pagamento',
    });
  });

  it('requests one token for all its calls, with a JSON body', () => {
    expect(simulator.calls('token')).to.equal(1);
  });
});
