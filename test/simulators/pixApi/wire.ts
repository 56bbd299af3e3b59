// The form of charges, Pix and returns in responses and callbacks (API Pix 2.9.0).
import { toMinor } from '../../../domain/kernel/money.ts';
import { amountText, buildDynamicBrCode } from '../../../domain/pix/brCode.ts';
import { type Charge, type ClientSpec, type Person, type Received, type Return, type Terms, termsOf } from './books.ts';
import type { Settings } from './settings.ts';

export const money = (amount: number): string => amountText(toMinor(amount));
export const time = (at: number): string => new Date(at).toISOString();

const CPF_LENGTH = 11;
const personWire = ({ name, document }: Person) =>
  document.length === CPF_LENGTH ? { cpf: document, nome: name } : { cnpj: document, nome: name };

/** Institutions hide the first three digits and the check digits, as in `***.456.789-**`. */
export const masked = (document: string): string =>
  document.length === CPF_LENGTH
    ? `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`
    : `**.${document.slice(2, 5)}.${document.slice(5, 8)}/${document.slice(8, 12)}-**`;

export const returnWire = (given: Return) => ({
  id: given.id,
  rtrId: given.returnId,
  valor: money(given.amount),
  natureza: given.nature,
  ...(given.note === null ? {} : { descricao: given.note }),
  horario: {
    solicitacao: time(given.requestedAt),
    ...(given.settledAt === null ? {} : { liquidacao: time(given.settledAt) }),
  },
  status: given.status,
  ...(given.reason === null ? {} : { motivo: given.reason }),
});

/** An extension that many institutions still send although the standard removed it in 2.1. */
const payerWire = ({ payer, showPayer }: Received, settings: Settings): { readonly pagador?: object } => {
  const shown = showPayer ?? settings.payer;
  if (shown === 'none') return {};
  const document = shown === 'masked' ? masked(payer.document) : payer.document;
  return {
    pagador:
      payer.document.length === CPF_LENGTH ? { nome: payer.name, cpf: document } : { nome: payer.name, cnpj: document },
  };
};

const componentsWire = ({ amount, withdrawal }: Received) => ({
  original: { valor: money(amount - withdrawal) },
  ...(withdrawal === 0
    ? {}
    : { troco: { valor: money(withdrawal), modalidadeAgente: 'AGTEC', prestadorDeServicoDeSaque: '99999007' } }),
});

const pixBase = (received: Received) => ({
  endToEndId: received.endToEndId,
  ...(received.txid === null ? {} : { txid: received.txid }),
  valor: money(received.amount),
  componentesValor: componentsWire(received),
  chave: received.key,
  horario: time(received.at),
  ...(received.note === null ? {} : { infoPagador: received.note }),
});

export const pixWire = (received: Received, settings: Settings) => ({
  ...pixBase(received),
  ...payerWire(received, settings),
  ...(received.returns.length === 0 ? {} : { devolucoes: received.returns.map(returnWire) }),
});

/** Returns the Pix of a callback, in the form that the settings ask for. */
export const announcedWire = (received: Received, settings: Settings): object => {
  const returns = received.returns.map(returnWire);
  const payer = payerWire(received, settings);
  const isEfi = settings.dialect === 'efi' && payer.pagador !== undefined;
  return {
    ...pixBase(received),
    ...(isEfi ? { gnExtras: { pagador: { ...payer.pagador, codigoBanco: '99999008' } } } : payer),
    ...(returns.length === 0 ? {} : { devolucoes: settings.callbackReturnsAs === 'object' ? returns.at(-1) : returns }),
  };
};

const locationWire = (charge: Charge) => ({
  loc: { id: charge.locationId, location: charge.location, tipoCob: 'cob', criacao: time(charge.createdAt) },
  location: charge.location,
});

/** Only a payable charge has a code. Efí and others omit it afterwards. */
const codeWire = (charge: Charge, terms: Terms, { name, city }: ClientSpec) =>
  terms.status === 'ATIVA'
    ? {
        pixCopiaECola: buildDynamicBrCode({
          url: charge.location,
          merchantName: name,
          merchantCity: city,
          amount: toMinor(terms.amount),
        }),
      }
    : {};

/** Returns a charge as of the given revision, by default the latest. */
export const chargeWire = (charge: Charge, client: ClientSpec, revision = charge.history.length - 1) => {
  const terms = charge.history[revision] ?? termsOf(charge);
  return {
    calendario: { criacao: time(charge.createdAt), expiracao: terms.lifetimeSeconds },
    txid: charge.txid,
    revisao: revision,
    ...locationWire(charge),
    status: terms.status,
    ...(terms.debtor === null ? {} : { devedor: personWire(terms.debtor) }),
    valor: { original: money(terms.amount) },
    chave: terms.key,
    ...(terms.note === null ? {} : { solicitacaoPagador: terms.note }),
    ...(terms.info === null ? {} : { infoAdicionais: terms.info }),
    ...codeWire(charge, terms, client),
  };
};

/** Returns a charge with its payments. Efí returns the lifetime as text (type of `pixDetailCharge` in sdk-node-apis-efi). */
export const fullChargeWire = (charge: Charge, client: ClientSpec, settings: Settings, revision?: number) => {
  const { calendario, ...rest } = chargeWire(charge, client, revision);
  const { criacao, expiracao } = calendario;
  return {
    calendario: { criacao, expiracao: settings.dialect === 'efi' ? String(expiracao) : expiracao },
    ...rest,
    ...(charge.received.length === 0 ? {} : { pix: charge.received.map((received) => pixWire(received, settings)) }),
  };
};
