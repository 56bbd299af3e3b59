// Webhooks, one for each Pix key: /webhook.
import type { Bank } from './bank.ts';
import type { Webhook } from './books.ts';
import type { Answer, Call } from './call.ts';
import { bodyReader, Query } from './reading.ts';
import { efiError, problem } from './refusal.ts';
import { time } from './wire.ts';

const readWebhook = bodyReader<{ readonly webhookUrl: string }>('WebhookOperacaoInvalida', 'webhook', {
  type: 'object',
  required: ['webhookUrl'],
  properties: { webhookUrl: { type: 'string', pattern: '^https?://[^\\s]+$' } },
});

const refuse = (razao: string, propriedade: string): never => {
  throw problem('WebhookOperacaoInvalida', { razao, propriedade });
};

/** The published schema requires the receiver’s CNPJ. Institutions also send the key. */
const webhookWire = ({ key, url, createdAt }: Webhook, cnpj: string) => ({
  webhookUrl: url,
  chave: key,
  cnpj,
  criacao: time(createdAt),
});

/**
 * Efí first calls without its certificate and expects to be rejected, unless the header says `x-skip-mtls-checking: true`
 * (https://dev.efipay.com.br/docs/api-pix/webhooks/).
 */
const checkAsEfi = async ({ callbacks }: Bank, url: string, headers: Call['headers']): Promise<void> => {
  if (headers['x-skip-mtls-checking'] !== 'true' && (await callbacks.test(url, false)))
    throw efiError(400, 'webhook_invalido', 'A autenticação de TLS mútuo não está configurada na URL informada');
  if (!(await callbacks.test(url)))
    throw efiError(400, 'webhook_invalido', 'Não foi possível receber uma resposta da URL informada');
};

/** PUT /webhook/{chave}. Like Efí, it first calls the URL itself, without `/pix`, with a body that has no `pix`. */
export const putWebhook = async ({ bank, account, params: [key = ''], body, headers }: Call): Promise<Answer> => {
  const { webhookUrl } = readWebhook(body);
  const { registrationCall, dialect } = bank.settings;
  if (!account.client.pixKeys.includes(key))
    refuse('O parâmetro {chave} não corresponde a uma chave DICT pertencente a este usuário recebedor.', 'chave');
  if (!URL.canParse(webhookUrl)) refuse('Campo webhook.webhookUrl não respeita o _schema_.', 'webhook.webhookUrl');
  if (registrationCall && dialect === 'efi') await checkAsEfi(bank, webhookUrl, headers);
  else if (registrationCall && !(await bank.callbacks.test(webhookUrl)))
    refuse('A URL do webhook não respondeu com sucesso à chamada de teste.', 'webhook.webhookUrl');
  account.webhooks.set(key, { key, url: webhookUrl, createdAt: bank.clock.now() });
  return { status: dialect === 'efi' ? 201 : 200, body: { webhookUrl } };
};

const webhookOf = ({ account, params: [key = ''] }: Call): Webhook => {
  const webhook = account.webhooks.get(key);
  if (webhook === undefined) throw problem('WebhookNaoEncontrado', { razao: 'Webhook não encontrado.', valor: key });
  return webhook;
};

export const getWebhook = (call: Call): Answer => ({
  status: 200,
  body: webhookWire(webhookOf(call), call.account.client.document),
});

export const deleteWebhook = (call: Call): Answer => {
  call.account.webhooks.delete(webhookOf(call).key);
  return { status: 204 };
};

/** GET /webhook. The period is optional. */
export const listWebhooks = ({ account, query: values }: Call): Answer => {
  const query = new Query(values, 'WebhookConsultaInvalida');
  const period = values.has('inicio') || values.has('fim') ? query.period() : null;
  const page = query.page(
    [...account.webhooks.values()].filter(
      ({ createdAt }) => period === null || (createdAt >= period.from && createdAt <= period.to),
    ),
  );
  return {
    status: 200,
    body: {
      parametros: { ...period?.wire, paginacao: page.wire },
      webhooks: page.items.map((webhook) => webhookWire(webhook, account.client.document)),
    },
  };
};
