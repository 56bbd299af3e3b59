// Efí’s responses where they differ from the standard. Sources: https://dev.efipay.com.br/docs/api-pix/cobrancas-imediatas,
// …/gestao-de-pix and …/webhooks (text as stored in the repository mpaivaana/error-report, docs/api-pix). Cases that these pages don’t
// list follow the standard.
import { efiError, type ProblemType, type Refusal } from './refusal.ts';

/** Efí responds with 400 where the standard has 404. */
const ABSENT: { readonly [T in ProblemType]?: readonly [nome: string, mensagem: string] } = {
  CobNaoEncontrado: ['cobranca_nao_encontrada', 'Nenhuma cobrança encontrada para o txid informado'],
  PixNaoEncontrado: ['pix_nao_encontrado', 'Nenhum pix encontrado para o identificador informado'],
  PixDevolucaoNaoEncontrada: [
    'devolucao_nao_encontrada',
    'Nenhuma devolução encontrada para o identificador informado',
  ],
};
/** Errors of other refused charges, by the field at fault. */
const BY_FIELD: Readonly<Record<string, readonly [nome: string, mensagem: string]>> = {
  'cob.status': ['status_cobranca_invalido', 'A cobrança não está mais com o status ATIVA'],
  'cob.chave': ['chave_invalida', 'A chave informada não faz referência à conta Efí autenticada'],
};
const INVALID: readonly ProblemType[] = [
  'CobOperacaoInvalida',
  'CobConsultaInvalida',
  'PixConsultaInvalida',
  'PixDevolucaoInvalida',
  'WebhookConsultaInvalida',
];

/** Returns the refusal in Efí’s form. */
export const efiFormOf = (refusal: Refusal): Refusal => {
  const { type, violations } = refusal;
  const known = type === null ? undefined : (ABSENT[type] ?? BY_FIELD[violations[0]?.propriedade ?? '']);
  if (known !== undefined) return efiError(400, ...known);
  const [{ razao } = { razao: 'Valor inválido' }] = violations;
  return type !== null && INVALID.includes(type) ? efiError(400, 'valor_invalido', razao) : refusal;
};
