// Reads charges, Pix and returns of the API (API Pix 2.9.0). Everything that doesn't fit reads as null, which means an unknown outcome.
import type { ProviderReturn, ReceivedPayment } from '../../../application/ports/paymentProvider.ts';
import type { Minor } from '../../../domain/kernel/money.ts';
import { addSeconds, type Timestamp } from '../../../domain/kernel/time.ts';
import type { Payer } from '../../../domain/transaction/incomingPayment.ts';
import type { ReturnNature } from '../../../domain/transaction/returnedOutside.ts';
import type { Preset } from './presets/preset.ts';
import {
  amountOf,
  at,
  countOf,
  idAt,
  isMissing,
  isObject,
  listOf,
  NAME_MAX,
  REASON_MAX,
  shortTextAt,
  textAt,
  timeOf,
} from './reading.ts';

const CHARGE_STATUSES = ['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP'] as const;
export type ChargeStatus = (typeof CHARGE_STATUSES)[number];

export interface ChargeAtProvider {
  readonly txid: string;
  readonly status: ChargeStatus;
  readonly amount: Minor;
  readonly key: string;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  readonly code: string | null;
  readonly location: string | null;
}

/** Lifetime of a charge whose answer states none (API Pix 2.9.0, CobExpiracao.expiracao, default). */
const DEFAULT_LIFETIME_S = 86_400;
const LIFETIME_MAX_S = 2_147_483_647;

export const statusOf = (body: unknown): ChargeStatus | null =>
  CHARGE_STATUSES.find((status) => status === at(body, 'status')) ?? null;

export const chargeOf = (body: unknown): ChargeAtProvider | null => {
  const txid = textAt(body, 'txid');
  const status = statusOf(body);
  const amount = amountOf(at(body, 'valor', 'original'));
  const key = textAt(body, 'chave');
  const createdAt = timeOf(at(body, 'calendario', 'criacao'));
  const stated = at(body, 'calendario', 'expiracao');
  const lifetime = isMissing(stated) ? DEFAULT_LIFETIME_S : countOf(stated);
  if (txid === null || status === null || amount === null || key === null || createdAt === null) return null;
  if (lifetime === null || lifetime > LIFETIME_MAX_S) return null;
  return {
    txid,
    status,
    amount,
    key,
    createdAt,
    expiresAt: addSeconds(createdAt, lifetime),
    code: textAt(body, 'pixCopiaECola'),
    location: textAt(body, 'location') ?? textAt(body, 'loc', 'location'),
  };
};

const NATURES: Readonly<Record<string, ReturnNature>> = {
  ORIGINAL: 'ordinary',
  RETIRADA: 'withdrawal',
  MED_OPERACIONAL: 'medOperational',
  MED_FRAUDE: 'medFraud',
  MED_PIX_AUTOMATICO: 'medAutomatic',
};
const RETURN_STATUSES: Readonly<Record<string, ProviderReturn['status']>> = {
  EM_PROCESSAMENTO: 'processing',
  DEVOLVIDO: 'done',
  NAO_REALIZADO: 'refused',
};

const entry = <T>(table: Readonly<Record<string, T>>, key: string | null): T | null =>
  key !== null && Object.hasOwn(table, key) ? (table[key] as T) : null;

/** A return of a nature unknown to this version counts as made by the banks if its name says so. */
const natureOf = (text: string | null): ReturnNature =>
  entry(NATURES, text) ?? (text?.startsWith('MED_') === true ? 'medOperational' : 'ordinary');

export const returnOf = (body: unknown): ProviderReturn | null => {
  const id = idAt(body, 'id');
  const status = entry(RETURN_STATUSES, textAt(body, 'status'));
  const amount = amountOf(at(body, 'valor'));
  const requestedAt = timeOf(at(body, 'horario', 'solicitacao'));
  const settledAt = timeOf(at(body, 'horario', 'liquidacao'));
  if (id === null || status === null || amount === null || requestedAt === null) return null;
  return {
    id,
    returnId: idAt(body, 'rtrId'),
    nature: natureOf(textAt(body, 'natureza')),
    status,
    amount,
    requestedAt,
    settledAt,
    reason: shortTextAt(REASON_MAX, body, 'motivo'),
  };
};

const returnsOf = (value: unknown): readonly ProviderReturn[] | null => {
  const list = listOf(value);
  if (list === undefined) return null;
  const returns = (list ?? []).map(returnOf);
  if (!returns.every((one) => one !== null)) return null;
  return returns.toSorted((a, b) => (a.requestedAt < b.requestedAt ? -1 : 1));
};

const payerOf = (body: unknown, { payerAt }: Preset): Payer => {
  const payer = payerAt.map((path) => at(body, ...path)).find(isObject);
  return { name: shortTextAt(NAME_MAX, payer, 'nome'), document: idAt(payer, 'cpf') ?? idAt(payer, 'cnpj') };
};

/** Some institutions list components of zero or null. Anything else but the price makes the amount more than the price. */
const isPlain = (components: unknown): boolean =>
  isMissing(components) ||
  (isObject(components) &&
    Object.entries(components).every(
      ([name, part]) => name === 'original' || isMissing(part) || amountOf(at(part, 'valor')) === 0,
    ));

const END_TO_END_ID = /^[A-Za-z0-9]{32}$/;
const CALLBACK_TXID = /^[a-zA-Z0-9]{1,35}$/;
/** Ids are read less strictly than they are made (pix.md, Ids). */
export const isReadEndToEndId = (text: string): boolean => END_TO_END_ID.test(text);
export const isReadTxid = (text: string): boolean => CALLBACK_TXID.test(text);

/** Returns a received Pix and its key (null: not stated). */
export const receivedOf = (
  body: unknown,
  preset: Preset,
): { readonly received: ReceivedPayment; readonly key: string | null } | null => {
  const endToEndId = textAt(body, 'endToEndId');
  const amount = amountOf(at(body, 'valor'));
  const paidAt = timeOf(at(body, 'horario'));
  const returns = returnsOf(at(body, 'devolucoes'));
  if (endToEndId === null || !isReadEndToEndId(endToEndId)) return null;
  if (amount === null || paidAt === null || returns === null) return null;
  const payer = payerOf(body, preset);
  return {
    received: {
      txid: idAt(body, 'txid'),
      incoming: { method: 'PIX', providerPaymentId: endToEndId, amount, payer, paidAt },
      isPlain: isPlain(at(body, 'componentesValor')),
      returns,
    },
    key: textAt(body, 'chave'),
  };
};
