// Pix-out in Efí’s form. Source: https://dev.efipay.com.br/docs/api-pix/envio-pagamento-pix/ and …/webhooks/ (text as stored in the
// repository mpaivaana/error-report, docs/api-pix), and the types of efipay/sdk-node-apis-efi, dist/types/methods/pix.d.ts.
import type { Sent } from './books.ts';
import { masked, money, time } from './wire.ts';

/** The fictitious holder of every payee key. */
const PAYEE = { name: 'FAVORECIDO DE TESTE', document: '99995555514' };

/** The response of PUT /v3/gn/pix/{idEnvio}, the only one that calls the end-to-end id `e2eId`. */
export const acceptedWire = (sent: Sent) => ({
  idEnvio: sent.id,
  e2eId: sent.endToEndId,
  valor: money(sent.amount),
  horario: { solicitacao: time(sent.at) },
  status: sent.status,
});

/** A rejected Pix-out has no reason here, only in its callback. */
export const sentWire = (sent: Sent) => ({
  endToEndId: sent.endToEndId,
  idEnvio: sent.id,
  valor: money(sent.amount),
  chave: sent.fromKey,
  status: sent.status,
  ...(sent.note === null ? {} : { infoPagador: sent.note }),
  horario: {
    solicitacao: time(sent.at),
    ...(sent.settledAt === null ? {} : { liquidacao: time(sent.settledAt) }),
  },
  favorecido: { chave: sent.toKey, identificacao: { nome: PAYEE.name, cpf: masked(PAYEE.document) } },
});

export const sentAnnouncement = (sent: Sent) => ({
  endToEndId: sent.endToEndId,
  chave: sent.fromKey,
  tipo: 'SOLICITACAO',
  status: sent.status,
  valor: money(sent.amount),
  horario: sent.settledAt === null ? null : time(sent.settledAt),
  ...(sent.note === null ? {} : { infoPagador: sent.note }),
  gnExtras: {
    idEnvio: sent.id,
    ...(sent.reason === null
      ? {}
      : { erro: { codigo: 'AC03', origem: 'PSP do usuário recebedor', motivo: sent.reason } }),
  },
});
