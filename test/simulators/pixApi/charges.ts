// Immediate charges: /cob.
import { isTxid } from '../../../domain/pix/ids.ts';
import { type Charge, type Person, setStatus, type Terms, termsOf } from './books.ts';
import type { Answer, Call } from './call.ts';
import { letters } from './ids.ts';
import { AMOUNT, bodyReader, centsOf, Query } from './reading.ts';
import { efiError, problem, type Violation } from './refusal.ts';
import { chargeWire, fullChargeWire } from './wire.ts';

interface TermsBody {
  readonly calendario?: { readonly expiracao?: number };
  readonly devedor?: { readonly cpf?: string; readonly cnpj?: string; readonly nome: string };
  readonly valor?: { readonly original?: string };
  readonly chave?: string;
  readonly solicitacaoPagador?: string;
  readonly infoAdicionais?: Terms['info'];
  readonly loc?: object;
  readonly status?: string;
}

const PROPERTIES = {
  calendario: { type: 'object', properties: { expiracao: { type: 'integer', minimum: 1, maximum: 2_147_483_647 } } },
  devedor: {
    type: 'object',
    required: ['nome'],
    properties: {
      nome: { type: 'string', minLength: 1, maxLength: 200 },
      cpf: { type: 'string', pattern: '^\\d{11}$' },
      cnpj: { type: 'string', pattern: '^[0-9A-Z]{14}$' },
    },
    oneOf: [{ required: ['cpf'] }, { required: ['cnpj'] }],
  },
  chave: { type: 'string', minLength: 1, maxLength: 77 },
  solicitacaoPagador: { type: 'string', maxLength: 140 },
  infoAdicionais: {
    type: 'array',
    maxItems: 50,
    items: {
      type: 'object',
      required: ['nome', 'valor'],
      properties: { nome: { type: 'string', maxLength: 50 }, valor: { type: 'string', maxLength: 200 } },
    },
  },
  loc: { type: 'object' },
};
/** Cash withdrawal (`valor.retirada`) and amounts that the payer may change are not supported. */
const VALUE = {
  type: 'object',
  properties: { original: AMOUNT, modalidadeAlteracao: { const: 0 } },
  not: { required: ['retirada'] },
};
const readNew = bodyReader<TermsBody>('CobOperacaoInvalida', 'cob', {
  type: 'object',
  required: ['calendario', 'valor', 'chave'],
  properties: { ...PROPERTIES, valor: { ...VALUE, required: ['original'] } },
});
const readChange = bodyReader<TermsBody>('CobOperacaoInvalida', 'cob', {
  type: 'object',
  properties: { ...PROPERTIES, valor: VALUE, status: { enum: ['REMOVIDA_PELO_USUARIO_RECEBEDOR'] } },
});

const LIFETIME_SECONDS = 86_400;
/** A location has at most 77 characters and no scheme. The host is reserved for examples (RFC 2606). */
const LOCATION_HOST = 'qr.simulator.example/v2/';

const refuse = (razao: string, propriedade: string): never => {
  const violation: Violation = { razao, propriedade };
  throw problem('CobOperacaoInvalida', violation);
};

/** Returns the terms that `body` asks for. `before` supplies what it omits. */
const termsFrom = ({ account }: Call, body: TermsBody, before: Terms | null): Terms => {
  const { devedor, valor, chave, solicitacaoPagador, infoAdicionais, loc } = body;
  const debtor: Person | null =
    devedor === undefined ? null : { name: devedor.nome, document: devedor.cpf ?? (devedor.cnpj as string) };
  const terms: Terms = {
    lifetimeSeconds: body.calendario?.expiracao ?? before?.lifetimeSeconds ?? LIFETIME_SECONDS,
    debtor: debtor ?? before?.debtor ?? null,
    amount: valor?.original === undefined ? (before as Terms).amount : centsOf(valor.original),
    key: chave ?? (before as Terms).key,
    note: solicitacaoPagador ?? before?.note ?? null,
    info: infoAdicionais ?? before?.info ?? null,
    status: 'ATIVA',
  };
  if (terms.amount === 0) refuse('O campo cob.valor.original é zero.', 'cob.valor.original');
  if (loc !== undefined) refuse('O location referenciado por loc.id inexiste.', 'cob.loc.id');
  if (!account.client.pixKeys.includes(terms.key))
    refuse('O campo cob.chave corresponde a uma conta que não pertence a este usuário recebedor.', 'cob.chave');
  return terms;
};

const isSame = (a: Terms, b: Terms): boolean => JSON.stringify(a) === JSON.stringify(b);

const make = ({ bank, account }: Call, txid: string, terms: Terms): Charge => {
  const charge: Charge = {
    txid,
    createdAt: bank.clock.now(),
    locationId: bank.nextLocationId(),
    location: LOCATION_HOST + letters(32),
    history: [terms],
    received: [],
  };
  account.charges.set(txid, charge);
  account.chargesByTime.add(charge);
  return charge;
};

const created = ({ account }: Call, charge: Charge): Answer => ({
  status: 201,
  body: chargeWire(charge, account.client),
});

/**
 * PUT /cob/{txid}. A repeat with the same content returns the charge unchanged. Other content makes a revision if the charge is ATIVA, and
 * is refused otherwise. Efí refuses every repeat with 409 `txid_duplicado`.
 */
export const putCharge = (call: Call): Answer => {
  const { bank, account, params } = call;
  const [txid = ''] = params;
  if (!isTxid(txid)) refuse('O campo txid não respeita o _schema_.', 'txid');
  const terms = termsFrom(call, readNew(call.body), null);
  const charge = account.charges.get(txid);
  if (charge === undefined) return created(call, make(call, txid, terms));
  if (bank.settings.dialect === 'efi')
    throw efiError(409, 'txid_duplicado', 'Campo txid informado já foi utilizado em outra cobrança');
  const before = termsOf(charge);
  if (isSame({ ...before, status: 'ATIVA' }, terms)) return created(call, charge);
  if (before.status !== 'ATIVA') refuse('A cobrança já existe e não está no status ATIVA.', 'cob.status');
  charge.history.push(terms);
  return created(call, charge);
};

/** POST /cob: the institution chooses the txid. */
export const postCharge = (call: Call): Answer =>
  created(call, make(call, letters(32), termsFrom(call, readNew(call.body), null)));

const chargeOf = ({ account, params: [txid = ''] }: Call): Charge => {
  const charge = account.charges.get(txid);
  if (charge === undefined) throw problem('CobNaoEncontrado', { razao: 'Cobrança não encontrada.', valor: txid });
  return charge;
};

/** PATCH /cob/{txid}: changes the terms, or removes the charge without other changes. */
export const patchCharge = (call: Call): Answer => {
  const charge = chargeOf(call);
  const body = readChange(call.body);
  const before = termsOf(charge);
  if (before.status !== 'ATIVA') refuse('A cobrança não está ATIVA.', 'cob.status');
  if (body.status !== undefined && Object.keys(body).length > 1)
    refuse('A remoção não pode ser feita juntamente com outras alterações.', 'cob.status');
  charge.history.push(body.status === undefined ? termsFrom(call, body, before) : before);
  if (body.status !== undefined) setStatus(charge, 'REMOVIDA_PELO_USUARIO_RECEBEDOR');
  return { status: 200, body: chargeWire(charge, call.account.client) };
};

export const getCharge = (call: Call): Answer => {
  const charge = chargeOf(call);
  const query = new Query(call.query, 'CobConsultaInvalida');
  const latest = charge.history.length - 1;
  const revision = query.whole('revisao', 0, latest, latest);
  return { status: 200, body: fullChargeWire(charge, call.account.client, call.bank.settings, revision) };
};

export const listCharges = ({ bank, account, query: values }: Call): Answer => {
  const query = new Query(values, 'CobConsultaInvalida');
  const person = query.person();
  const document = person === null ? null : Object.values(person)[0];
  const status = query.text('status', /^[A-Z_]+$/);
  const location = query.flag('locationPresente');
  const { items, parametros } = query.list(
    account.chargesByTime,
    (charge) =>
      (document === null || termsOf(charge).debtor?.document === document) &&
      (status === null || termsOf(charge).status === status) &&
      location !== false,
    {
      ...person,
      ...(location === null ? {} : { locationPresente: location }),
      ...(status === null ? {} : { status }),
    },
  );
  return {
    status: 200,
    body: { parametros, cobs: items.map((charge) => fullChargeWire(charge, account.client, bank.settings)) },
  };
};
