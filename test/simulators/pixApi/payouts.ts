// Efí’s Pix-out, which is not part of the standard. Source: see wirePayout.ts.
import { isPixKey } from '../../../domain/pix/pixKey.ts';
import type { Sent } from './books.ts';
import type { Answer, Call } from './call.ts';
import { sentId } from './ids.ts';
import { AMOUNT, bodyReader, centsOf, Query } from './reading.ts';
import { efiError, problem } from './refusal.ts';
import { balanceOf } from './statement.ts';
import { money } from './wire.ts';
import { acceptedWire, sentWire } from './wirePayout.ts';

interface PayoutBody {
  readonly valor: string;
  readonly pagador: { readonly chave: string; readonly infoPagador?: string };
  readonly favorecido: { readonly chave: string };
}
const KEY = { type: 'string', minLength: 1, maxLength: 77 };
const readPayout = bodyReader<PayoutBody>('RequisicaoInvalida', 'pix', {
  type: 'object',
  required: ['valor', 'pagador', 'favorecido'],
  properties: {
    valor: AMOUNT,
    pagador: {
      type: 'object',
      required: ['chave'],
      properties: { chave: KEY, infoPagador: { type: 'string', maxLength: 140 } },
    },
    favorecido: { type: 'object', required: ['chave'], properties: { chave: KEY } },
  },
});

const PAYOUT_ID = /^[a-zA-Z0-9]{1,35}$/;

/** PUT /v3/gn/pix/{idEnvio}. A repeated id fails with 409, whatever the content. */
export const putPayout = ({ bank, account, params: [id = ''], body }: Call): Answer => {
  const { valor, pagador, favorecido } = readPayout(body);
  const amount = centsOf(valor);
  if (!PAYOUT_ID.test(id)) throw problem('RequisicaoInvalida', { razao: 'O campo idEnvio é inválido.', valor: id });
  if (amount === 0) throw efiError(400, 'valor_invalido', 'Campo valor deve ser maior que zero');
  if (!account.client.pixKeys.includes(pagador.chave))
    throw efiError(400, 'chave_invalida', 'A chave informada não faz referência à conta Efí autenticada');
  if (!isPixKey(favorecido.chave)) throw efiError(400, 'chave_invalida', 'A chave do favorecido é inválida');
  if (account.sent.has(id))
    throw efiError(409, 'id_envio_duplicado', 'O id de envio informado já foi utilizado em outro pagamento');
  const at = bank.clock.now();
  const sent: Sent = {
    id,
    endToEndId: sentId(at),
    amount,
    fromKey: pagador.chave,
    toKey: favorecido.chave,
    note: pagador.infoPagador ?? null,
    at,
    status: 'EM_PROCESSAMENTO',
    settledAt: null,
    reason: null,
  };
  account.sent.set(id, sent);
  account.sentByTime.add(sent);
  const { payouts } = bank.settings;
  return {
    status: 201,
    body: acceptedWire(sent),
    afterwards: () => {
      if (payouts !== 'processing') bank.settlePayout(account, sent, payouts === 'done', null);
    },
  };
};

const found = (sent: Sent | undefined, name: string): Answer => {
  if (sent === undefined)
    throw problem('PixEnviadoNaoEncontrado', { razao: `Pix enviado não encontrado para o ${name} informado.` });
  return { status: 200, body: sentWire(sent) };
};

export const getPayout = ({ account, params: [id = ''] }: Call): Answer => found(account.sent.get(id), 'idEnvio');

export const getPayoutByEndToEndId = ({ account, params: [endToEndId] }: Call): Answer =>
  found(
    [...account.sent.values()].find((sent) => sent.endToEndId === endToEndId),
    'e2eId',
  );

export const listPayouts = ({ account, query: values }: Call): Answer => {
  const query = new Query(values, 'PixConsultaInvalida');
  const { items, parametros } = query.list(account.sentByTime, null, {});
  return { status: 200, body: { parametros, pix: items.map(sentWire) } };
};

/** GET /v2/gn/saldo (https://dev.efipay.com.br/docs/api-pix/endpoints-exclusivos-efi). */
export const getBalance = ({ account }: Call): Answer => {
  const balance = balanceOf(account);
  return { status: 200, body: { saldo: `${balance < 0 ? '-' : ''}${money(Math.abs(balance))}` } };
};
