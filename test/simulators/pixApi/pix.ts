// Received Pix and their returns: /pix.
import { type Received, type Return, returnedOf } from './books.ts';
import type { Answer, Call } from './call.ts';
import { returnIdAt } from './ids.ts';
import { AMOUNT, bodyReader, centsOf, Query } from './reading.ts';
import { efiError, problem } from './refusal.ts';
import { pixWire, returnWire } from './wire.ts';

const receivedOf = ({ account, params: [endToEndId = ''] }: Call): Received => {
  const received = account.received.get(endToEndId);
  if (received === undefined) throw problem('PixNaoEncontrado', { razao: 'Pix não encontrado.', valor: endToEndId });
  return received;
};

export const getPix = (call: Call): Answer => ({ status: 200, body: pixWire(receivedOf(call), call.bank.settings) });

/** Returns whether the value matches a presence filter. Null means no filter. */
const isPresence = (wanted: boolean | null, isPresent: boolean): boolean => wanted === null || wanted === isPresent;

/** GET /pix: the filter by payer always compares the true document. */
export const listPix = ({ bank, account, query: values }: Call): Answer => {
  const query = new Query(values, 'PixConsultaInvalida');
  const person = query.person();
  const document = person === null ? null : Object.values(person)[0];
  const txid = query.text('txid', /^[a-zA-Z0-9]{1,35}$/);
  const txIdPresente = query.flag('txIdPresente');
  const devolucaoPresente = query.flag('devolucaoPresente');
  const hasFilter = document !== null || txid !== null || txIdPresente !== null || devolucaoPresente !== null;
  const fits = (received: Received): boolean =>
    (document === null || received.payer.document === document) &&
    (txid === null || received.txid === txid) &&
    isPresence(txIdPresente, received.txid !== null) &&
    isPresence(devolucaoPresente, received.returns.length > 0);
  const { items, parametros } = query.list(account.receivedByTime, hasFilter ? fits : null, {
    ...(txid === null ? {} : { txid }),
    ...(txIdPresente === null ? {} : { txIdPresente }),
    ...(devolucaoPresente === null ? {} : { devolucaoPresente }),
    ...person,
  });
  return { status: 200, body: { parametros, pix: items.map((received) => pixWire(received, bank.settings)) } };
};

interface ReturnBody {
  readonly valor: string;
  readonly natureza?: 'ORIGINAL' | 'RETIRADA';
  readonly descricao?: string;
}
const readReturn = bodyReader<ReturnBody>('PixDevolucaoInvalida', 'devolucao', {
  type: 'object',
  required: ['valor'],
  properties: {
    valor: AMOUNT,
    natureza: { enum: ['ORIGINAL', 'RETIRADA'] },
    descricao: { type: 'string', maxLength: 140 },
  },
});

const RETURN_ID = /^[a-zA-Z0-9]{1,35}$/;
const RETURN_DAYS_MS = 90 * 86_400_000;

const refuse = (razao: string, propriedade: string): never => {
  throw problem('PixDevolucaoInvalida', { razao, propriedade });
};

/** PUT /pix/{e2eid}/devolucao/{id}. An id can’t be reused, so even an identical repeat is refused. */
export const putReturn = (call: Call): Answer => {
  const { bank, account, params } = call;
  const received = receivedOf(call);
  const id = params[1] ?? '';
  const { valor, natureza = 'ORIGINAL', descricao = null } = readReturn(call.body);
  const amount = centsOf(valor);
  const now = bank.clock.now();
  if (!RETURN_ID.test(id)) refuse('O campo id não respeita o _schema_.', 'id');
  const isUsed = received.returns.some((given) => given.id === id);
  if (isUsed && bank.settings.dialect === 'efi')
    throw efiError(409, 'devolucao_id_duplicado', 'O id informado já foi utilizado em outra devolução');
  if (isUsed)
    refuse(
      'A presente requisição de devolução apresenta um {id} já utilizado por outra requisição de devolução.',
      'id',
    );
  if (amount === 0) refuse('O campo devolucao.valor é zero.', 'devolucao.valor');
  if (now - received.at > RETURN_DAYS_MS)
    refuse('A presente requisição de devolução viola a janela de tempo permitida de 90 dias.', 'horario');
  if (returnedOf(received) + amount > received.amount)
    refuse(
      'A presente requisição de devolução, em conjunto com as demais, excederia o valor do pix.',
      'devolucao.valor',
    );
  const given: Return = {
    id,
    returnId: returnIdAt(now),
    amount,
    nature: natureza,
    note: descricao,
    requestedAt: now,
    isForeign: false,
    status: 'EM_PROCESSAMENTO',
    settledAt: null,
    reason: null,
  };
  received.returns.push(given);
  const { returns } = bank.settings;
  return {
    status: 201,
    body: returnWire(given),
    afterwards: () => {
      if (returns !== 'processing') bank.settleReturn(account, received, given, returns === 'done', null);
    },
  };
};

export const getReturn = (call: Call): Answer => {
  const id = call.params[1] ?? '';
  const given = receivedOf(call).returns.find((other) => other.id === id);
  if (given === undefined)
    throw problem('PixDevolucaoNaoEncontrada', { razao: 'Devolução não encontrada.', valor: id });
  return { status: 200, body: returnWire(given) };
};
