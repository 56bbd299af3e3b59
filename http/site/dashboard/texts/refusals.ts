// The pages' messages when a use case rejects. The API's messages are English. Portuguese messages are chosen by the English sentence, with
// its amounts, numbers and names, or else by the error code.
import type { CodedProblem } from '../../../../domain/charge/request.ts';
import type { ErrorCode, Rejection } from '../../../../domain/kernel/rejection.ts';
import { formatAmount, type Language } from '../../../../domain/presentation/amount.ts';

/** The Portuguese sentence of each error code. */
export const PT_BY_CODE: { readonly [Code in ErrorCode]: string } = {
  invalid_request: 'Um dos campos não é válido.',
  invalid_json: 'O conteúdo enviado não é um JSON válido.',
  invalid_filter: 'Um dos filtros não é válido.',
  invalid_cursor: 'Esta página da lista não existe mais. Volte ao início da lista.',
  change_limit_reached: 'O número máximo de alterações foi atingido. O estado atual continua valendo.',
  idempotency_key_required: 'Falta a chave de idempotência.',
  invalid_idempotency_key: 'A chave de idempotência deve ter de 8 a 128 caracteres ASCII.',
  unauthorized: 'A sessão terminou, ou os dados de acesso não conferem.',
  mode_not_allowed: 'Esta ação só existe no ambiente de teste.',
  client_certificate_required: 'Falta o certificado da instituição.',
  csrf_rejected: 'O formulário veio de outra página ou de outra sessão. Recarregue a página.',
  role_required: 'O seu papel na conta não permite esta ação.',
  not_found: 'Não encontrado.',
  method_not_allowed: 'Esta ação não existe neste endereço.',
  work_in_progress: 'Uma reconstrução ou verificação já está em andamento. Espere até que termine.',
  payload_too_large: 'O envio é grande demais.',
  unsupported_media_type: 'O tipo do envio não é aceito.',
  unprocessable_entity: 'Nenhum provedor atende este método em produção. Fale com a plataforma.',
  rate_limited: 'Muitas requisições em um minuto. Aguarde um pouco.',
  headers_too_large: 'Os cabeçalhos da requisição são grandes demais.',
  internal_error: 'Ocorreu um erro inesperado. Tente de novo.',
  service_unavailable: 'O serviço não está disponível agora. Tente de novo em instantes.',
  invalid_amount: 'O valor não é válido.',
  invalid_currency: 'A moeda não é válida para este método.',
  invalid_payment_method: 'O método de pagamento não é aceito aqui.',
  invalid_expires_in: 'A validade deve ter pelo menos 60 segundos.',
  invalid_description: 'A descrição pode ter até 500 caracteres.',
  invalid_customer: 'Um dado do cliente não é válido.',
  invalid_metadata: 'Os metadados não são válidos ou são grandes demais.',
  invalid_payer_tax_id: 'O CPF ou CNPJ do pagador não é válido.',
  payer_tax_id_mismatch: 'O CPF ou CNPJ do pagador difere daquele do cliente.',
  customer_name_required: 'Informe o nome do cliente.',
  invalid_file_name: 'O nome do arquivo não é aceito.',
  invalid_file_size: 'O arquivo deve ter de 1 byte a 10 MB.',
  invalid_mime_type: 'O arquivo deve ser uma imagem PNG, JPEG, WebP ou GIF, ou um PDF.',
  invalid_evidence: 'O arquivo está danificado, não é do tipo que o nome diz, ou contém algo que não é aceito.',
  evidence_limit_reached: 'A contestação já tem 20 arquivos, o máximo.',
  case_not_open: 'A contestação não está mais aberta.',
  case_under_review: 'A plataforma está revisando um resultado desta contestação.',
  invalid_reason: 'O motivo deve ter de 5 a 2.000 caracteres.',
  invalid_signature: 'Este link não é mais válido.',
  EVIDENCE_NOT_UPLOADED: 'O arquivo não chegou a tempo. Envie-o de novo.',
  EVIDENCE_SIZE_MISMATCH: 'O arquivo chegou com outro tamanho. Envie-o de novo.',
  upload_in_progress: 'Outro envio deste arquivo está em andamento. Aguarde.',
  upload_too_slow: 'O envio foi lento demais. Tente com uma conexão melhor.',
  upload_limit_reached: 'Há envios demais em andamento. Aguarde um pouco e tente de novo.',
  API_KEY_ROLE_REQUIRED: 'Só OWNER ou ADMIN podem gerenciar chaves de API.',
  refund_limit_reached: 'Este pagamento já tem o máximo de 100 estornos.',
  resend_limit_reached: 'Os webhooks deste pagamento já foram reenviados 100 vezes, o máximo.',
  refund_amount_exceeds_remaining: 'O valor é maior que o que resta a estornar.',
  transaction_not_refundable: 'Só um pagamento liquidado e com valor restante pode ser estornado.',
  transaction_not_cancellable: 'Só cobranças em aberto podem ser canceladas.',
  charge_disputed: 'Um pagamento contestado não pode ser estornado.',
  charge_not_disputable: 'Esta cobrança não pode ser contestada agora.',
  REFUND_NOT_SUPPORTED: 'Este pagamento não pode ser estornado assim.',
  'fraud.customer_velocity_exceeded': 'Este cliente já tem cobranças demais em uma hora.',
  'fraud.account_velocity_exceeded': 'O limite por hora da conta foi atingido.',
  payment_not_final: 'Os dados só podem ser apagados depois do fim do pagamento.',
  retention_not_passed: 'Os dados precisam ser guardados por mais tempo.',
  payment_erased: 'Os dados pessoais deste pagamento foram apagados. Ele não pode mais ser estornado.',
  held_already_settled: 'Um operador já decidiu sobre este valor.',
  idempotency_key_reused: 'Este formulário já foi usado com outros dados. Recarregue a página.',
  idempotency_request_in_progress: 'O mesmo pedido ainda está em andamento. Aguarde um instante.',
  invalid_pix_key: 'A chave Pix não é válida.',
  payout_not_cancellable: 'Só saques pendentes podem ser cancelados.',
  payout_not_awaiting_approval: 'Este saque não aguarda aprovação.',
  insufficient_funds: 'O valor e a tarifa são maiores que o saldo disponível.',
  destination_not_allowed: 'A conta não permite saques para esta chave.',
  invalid_connection: 'Um dado da conexão com o provedor não é válido.',
  connection_in_use: 'A conexão ainda tem pagamentos, saques ou notificações em andamento.',
  second_factor_required: 'Digite também o código da verificação em duas etapas.',
  second_factor_enrolment_required: 'Configure primeiro a verificação em duas etapas.',
  invalid_url: 'O endereço não é válido, ou o seu destino não é permitido.',
  invalid_event: 'Um dos eventos não existe.',
  endpoint_limit_reached: 'A conta já tem 16 endpoints neste ambiente, o máximo.',
  endpoint_not_active: 'O endpoint desta entrega está pausado ou foi excluído.',
};

/**
 * Sentences whose code has several meanings, or that name an amount, a number or a field. `{}` stands for any text, `{$}` for an amount in
 * minor units, `{field}` for a field's name.
 */
export const PT_BY_SENTENCE: { readonly [english: string]: string } = {
  'There is no such payment.': 'Este pagamento não existe.',
  'This form was already sent, or something else changed in the meantime. Nothing was done now. Check the page before you repeat it.':
    'Este formulário já foi enviado, ou algo mudou nesse meio-tempo. Nada foi feito agora. Confira a página antes de repetir.',
  'This form was already sent, or something else changed in the meantime. Nothing was done now. A secret is shown only once: if you don’t have the new one, replace it.':
    'Este formulário já foi enviado, ou algo mudou nesse meio-tempo. Nada foi feito agora. Um segredo só aparece uma vez: se você não tem o novo, substitua-o.',
  'There is no such case.': 'Esta contestação não existe.',
  'There is no such payout.': 'Este saque não existe.',
  'There is no such user.': 'Este usuário não existe.',
  'There is no such API key.': 'Esta chave de API não existe.',
  'There is no such webhook endpoint.': 'Este endpoint não existe.',
  'There is no such delivery.': 'Esta entrega não existe.',
  'There is no such refund.': 'Este estorno não existe.',
  'The account has no other active OWNER. Make another user OWNER first.':
    'A conta não tem outro OWNER ativo. Dê primeiro o papel de OWNER a outro usuário.',
  'A user with this email address already exists.': 'Já existe um usuário com este e-mail.',
  'Only an OWNER or ADMIN of the account can manage its users.': 'Só OWNER ou ADMIN gerenciam os usuários da conta.',
  'You can’t change your own role or access. Ask another OWNER or ADMIN.':
    'Você não pode alterar o próprio papel ou acesso. Peça a outro OWNER ou ADMIN.',
  'Only an OWNER can add, change or disable an OWNER.': 'Só um OWNER pode convidar, alterar ou desativar um OWNER.',
  'An account can have at most {} users, disabled ones included.':
    'Uma conta pode ter no máximo {} usuários, incluídos os desativados.',
  'new_password must have {} to {} characters.': 'A senha nova deve ter de {} a {} caracteres.',
  'current_password is wrong.': 'A senha atual não confere.',
  'The password changed in the meantime, or the user is disabled.':
    'A senha foi alterada nesse meio-tempo, ou o usuário está desativado.',
  'label must be at most {} characters.': 'O nome pode ter até {} caracteres.',
  'This case has ended and accepts no further evidence.': 'A contestação terminou e não aceita mais provas.',
  'This case has ended.': 'A contestação terminou.',
  'An event of its stream can’t be read. Repair it, then erase again.':
    'Um evento do seu histórico não pode ser lido. Repare-o e apague de novo.',
  'This Pix-out is a refund of {}. Its data is erased with that payment: name it instead.':
    'Este envio de Pix é um estorno de {}. Os seus dados são apagados com esse pagamento: busque por ele.',
  'The case changed in the meantime; this step no longer applies.':
    'A contestação mudou nesse meio-tempo. Este passo não se aplica mais.',
  'The case has {} files, the maximum.': 'A contestação já tem {} arquivos, o máximo.',
  'The case has {} open uploads. Complete them or wait until they expire.':
    'A contestação tem {} envios em aberto. Aguarde até que terminem.',
  'The account has 200 MB of unconfirmed files. Complete them or wait until they are removed.':
    'A conta tem 200 MB de arquivos não confirmados. Aguarde até que sejam removidos.',
  'The account already sends files with {} forms. Wait until one of them ends.':
    'A conta já envia arquivos por {} formulários. Aguarde até que um deles termine.',
  'The uploaded file has {} bytes instead of the declared {}.': 'O arquivo tem {} bytes em vez dos {} declarados.',
  'The file name has an extension that doesn’t match {}.': 'A extensão do nome do arquivo não combina com o tipo {}.',
  'The file name must have 1 to 255 characters, must not contain a slash, a backslash, a control or text-direction character, and must not be . or ..':
    'O nome do arquivo deve ter de 1 a 255 caracteres, sem barras, caracteres de controle ou de direção do texto.',
  'The logo must have at most {} bytes.': 'O logotipo pode ter até {} bytes.',
  'The logo must be a PNG or a JPEG.': 'O logotipo deve ser um PNG ou um JPEG.',
  'The logo must be {} to {} pixels wide and high, not {} × {}.':
    'O logotipo deve ter de {} a {} pixels de largura e de altura, e não {} × {}.',
  'The logo is damaged, or has data after the image.': 'O logotipo está danificado, ou tem dados depois da imagem.',
  'The logo must have 8 bits per channel, not 16.': 'O logotipo deve ter 8 bits por canal, e não 16.',
  'The logo must not be interlaced.': 'O logotipo não pode ser entrelaçado.',
  'Only a settled payment can be refunded.': 'Só um pagamento liquidado pode ser estornado.',
  'This payment is already fully refunded.': 'Este pagamento já foi estornado por inteiro.',
  'Payments by {} can’t be refunded.': 'Pagamentos por {} não podem ser estornados.',
  'A payment can have at most {} refunds.': 'Um pagamento pode ter no máximo {} estornos.',
  'The amount exceeds the remaining refundable amount ({$}).': 'O valor é maior que o que resta a estornar ({$}).',
  'A dispute case of this payment awaits review. Until then, refunds must leave at least {$}.':
    'Uma contestação deste pagamento aguarda revisão. Até lá, os estornos devem deixar pelo menos {$}.',
  'The provider connection of this payment is disabled. Try again later.':
    'A conexão com o provedor deste pagamento está desativada. Tente mais tarde.',
  'The payment’s provider can’t send Pix payments. Use devolution, without destinationKey.':
    'O provedor deste pagamento não envia Pix. Use a devolução.',
  'A Pix can be returned only within 90 days of its payment. Use cashout instead.':
    'Um Pix só pode ser devolvido até 90 dias depois de pago.',
  'The payer’s document is unknown. Send destinationKey, or use devolution.':
    'O CPF ou CNPJ do pagador é desconhecido. Informe uma chave Pix ou use a devolução.',
  'The account does not allow cash-outs to this destination.': 'A conta não permite enviar Pix para esta chave.',
  'Too many refunds by this account within one hour.': 'Há estornos demais nesta conta em uma hora.',
  'This refund would exceed the account’s hourly refund limit.':
    'Este estorno passaria do limite de estornos por hora da conta.',
  'Too many payouts by this account within one hour.': 'Há saques demais nesta conta em uma hora.',
  'This payout would exceed the account’s hourly payout limit.':
    'Este saque passaria do limite de saques por hora da conta.',
  'Too many charges for this customer within one hour.': 'Há cobranças demais para este cliente em uma hora.',
  'Too many charges by this account within one hour.': 'Há cobranças demais nesta conta em uma hora.',
  'This payment is settled. Refund it instead.': 'Este pagamento já foi liquidado. Faça um estorno.',
  'This payment has ended and can’t be cancelled.': 'Este pagamento terminou e não pode ser cancelado.',
  'The cancellation is still in progress.': 'O cancelamento ainda está em andamento.',
  'Webhooks of a payment can be resent at most {} times.':
    'Os webhooks de um pagamento podem ser reenviados até {} vezes.',
  'No payment provider is configured for Pix in live mode.': 'Nenhum provedor de Pix está configurado em produção.',
  'No payout bank is configured for live mode.': 'Nenhum banco de saques está configurado em produção.',
  'You requested this payout, or issued the key that did. Someone else must review it.':
    'Você pediu este saque, ou criou a chave que o pediu. Outra pessoa deve decidir.',
  'Only an OWNER or ADMIN can review payouts.': 'Só OWNER ou ADMIN podem aprovar ou recusar saques.',
  'The bank does not have this payout.': 'O banco não tem este saque.',
  'The bank already {} this payout.': 'O banco já decidiu sobre este saque.',
  'The bank already {} this refund.': 'O banco já decidiu sobre este estorno.',
  'Another dispute of this charge was opened first.': 'Outra contestação desta cobrança foi aberta antes.',
  'The dispute opened no case: the charge changed in the meantime, or no worker handled the dispute within 5 seconds.':
    'A contestação não abriu nenhum caso: a cobrança mudou nesse meio-tempo, ou nenhum processo a tratou em 5 segundos.',
  'The test clock can be at most 100 years ahead.': 'O relógio de teste pode estar no máximo 100 anos à frente.',
  'This payment can be paid by Pix only.': 'Este pagamento só pode ser pago por Pix.',
  'This payment can’t be paid by card.': 'Este pagamento não pode ser pago com cartão.',
  'This payment has ended. The acquirer no longer accepts actions on it.':
    'Este pagamento terminou. A adquirente não aceita mais ações.',
  'The acquirer has declined {} for this payment.': 'A adquirente já recusou {} neste pagamento.',
  'Only payments settled by card can be disputed.': 'Só pagamentos com cartão liquidados podem ser contestados assim.',
  'This payment is already disputed.': 'Este pagamento já está contestado.',
  'The endpoint of the delivery is inactive. Activate it first.':
    'O endpoint desta entrega está pausado. Retome-o primeiro.',
  'The endpoint of the delivery was deleted. The delivery can’t be sent again.':
    'O endpoint desta entrega foi excluído. Ela não pode ser enviada de novo.',
  'The month {} has not begun yet.': 'O mês {} ainda não começou.',
  'This payment is not held for review.': 'Este pagamento não está retido.',
  'The held money of this payment can’t be credited ({}). Return it.':
    'O valor retido deste pagamento não pode ser creditado ({}). Devolva-o.',
  'An operator already settled this money.': 'Um operador já resolveu este valor.',
  'This payment has no refused return to settle.': 'Este pagamento não tem devolução recusada a resolver.',
  'The Pix key must be a CPF or CNPJ without punctuation, a phone number with +55, a lowercase email address or a UUID.':
    'A chave Pix deve ser um CPF ou CNPJ sem pontuação, um telefone com +55, um e-mail em minúsculas ou um UUID.',
  'The reason must not be blank and must have at most {} characters.': 'Informe o motivo, com no máximo {} caracteres.',
  'This case has no outcome to review.': 'Esta contestação não tem resultado a analisar.',
  'This case has no mismatch to settle.': 'Esta contestação não tem divergência a resolver.',
  'This case has no pending report.': 'Esta contestação não tem aviso pendente.',
  'Only live payments take cases by hand. Use the sandbox routes for test payments.':
    'Só pagamentos em produção têm contestações abertas e decididas manualmente.',
  'This payout doesn’t await approval.': 'Este saque não aguarda aprovação.',
  'No enabled or draining provider connection has this id.': 'Só conexões ativas ou em encerramento são conciliadas.',
  '{field} must be a whole number from {} to {}': '{field}: informe um número inteiro de {} a {}.',
  '{field} must be at most {} Pix keys': '{field}: no máximo {} chaves Pix.',
  '{field} must be Pix keys as the directory holds them, not "{}"': '{field}: “{}” não é uma chave Pix válida.',
  '{field} must be a color such as #1a7f5c': '{field}: informe uma cor como #1a7f5c.',
  '{field} must be a string of at most {} characters': '{field}: no máximo {} caracteres.',
  '{field} must be at most {$} for these methods': '{field}: no máximo {$} para estes métodos.',
  '{field} must be a CPF or CNPJ with valid check digits': '{field}: informe um CPF ou CNPJ válido.',
  '{field} must have {} to {} characters': '{field}: informe de {} a {} caracteres.',
  '{field} must have at most {} characters': '{field}: no máximo {} caracteres.',
};

/** Portuguese names of the API's fields. Others keep their names. */
const FIELDS: { readonly [param: string]: string } = {
  amount: 'Valor',
  description: 'Descrição',
  'customer.name': 'Nome do cliente',
  'customer.document': 'CPF ou CNPJ do cliente',
  'customer.email': 'E-mail do cliente',
  'destination.pix_key': 'Chave Pix',
  chargeWindowSeconds: 'Validade de uma cobrança, em segundos',
  color: 'Cor',
  cashoutDestinations: 'Chaves Pix que podem receber saques',
  payoutApprovalAbove: 'Valor que precisa de aprovação',
  payoutCount: 'Saques por hora',
  payoutSum: 'Soma dos saques por hora',
  'refundVelocity.countPerHour': 'Estornos por hora',
  'refundVelocity.sumPerHour': 'Soma dos estornos por hora',
  email: 'E-mail',
  name: 'Nome',
  label: 'Nome',
  role: 'Papel',
  url: 'Endereço',
  events: 'Eventos',
};

/** Longer messages quote input. */
export const MESSAGE_MAX = 500;
const HOLE = /\{(\$|field|)\}/g;
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

interface Sentence {
  readonly pattern: RegExp;
  readonly kinds: readonly string[];
  readonly words: { readonly [L in Language]: string };
}
const PATTERN_OF: { readonly [kind: string]: string } = { $: '(\\d+)', field: '`?([\\w.]+)`?:?', '': '(.+?)' };
/** For messages of at most MESSAGE_MAX characters. */
export const SENTENCES: readonly Sentence[] = Object.entries(PT_BY_SENTENCE).map(([english, pt]) => {
  const kinds = [...english.matchAll(HOLE)].map(([, kind = '']) => kind);
  const [first = '', ...rest] = english.split(/\{(?:\$|field|)\}/).map(escaped);
  const source = first + rest.map((text, n) => `${PATTERN_OF[kinds[n] as string]}${text}`).join('');
  return { pattern: new RegExp(`^${source}\\.?$`, 's'), kinds, words: { en: english, pt } };
});

/** Returns a variable part of the API's sentence as the page shows it. */
const shown = (kind: string, piece: string, language: Language, currency: string): string => {
  if (kind === '$') return formatAmount(Number(piece), currency, language);
  return kind === 'field' && language === 'pt' ? (FIELDS[piece] ?? piece) : piece;
};

/** Returns the page's sentence for a sentence of the API, or null if it is not listed. */
const retold = (message: string, language: Language, currency: string): string | null => {
  if (message.length > MESSAGE_MAX) return null;
  for (const { pattern, kinds, words } of SENTENCES) {
    const [whole, ...pieces] = pattern.exec(message) ?? [];
    if (whole === undefined) continue;
    const left = pieces.map((piece, n) => shown(kinds[n] as string, piece, language, currency));
    return words[language].replaceAll(HOLE, () => left.shift() ?? '');
  }
  return null;
};

const byCode = ({ code, message, param }: Rejection, language: Language): string => {
  if (language === 'en') return message;
  const field = code === 'invalid_request' && param !== undefined ? ` (${FIELDS[param] ?? param})` : '';
  return PT_BY_CODE[code].replace(/\.$/, `${field}.`);
};

/** Returns the message of a rejection for a reader. `currency`: the currency of amounts in the message. */
export const refusalText = (rejection: Rejection, language: Language, currency = 'BRL'): string =>
  retold(rejection.message, language, currency) ?? byCode(rejection, language);

/** Returns the message of a field's problem. */
export const problemText = ({ code, param, message }: CodedProblem, language: Language): string =>
  refusalText({ rejected: true, code, param, message: `${param} ${message}` }, language);
