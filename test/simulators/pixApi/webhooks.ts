// Webhooks, one for each Pix key: /webhook.
import type { Webhook } from './books.ts';
import type { Answer, Call } from './call.ts';
import { bodyReader, Query } from './reading.ts';
import { problem } from './refusal.ts';
import { time } from './wire.ts';

const readWebhook = bodyReader<{ readonly webhookUrl: string }>('WebhookOperacaoInvalida', 'webhook', {
  type: 'object',
  required: ['webhookUrl'],
  properties: { webhookUrl: { type: 'string', pattern: '^https?://[^\\s]+$' } },
});

const refuse = (razao: string, propriedade: string): never => {
  throw problem('WebhookOperacaoInvalida', { razao, propriedade });
};

/** The published schema wants the receiver's CNPJ; institutions also send the key. */
const webhookWire = ({ key, url, createdAt }: Webhook, cnpj: string) => ({
  webhookUrl: url,
  chave: key,
  cnpj,
  criacao: time(createdAt),
});

/** PUT /webhook/{chave}. Like Efí, first calls the URL itself, without `/pix`, with a body that has no `pix`. */
export const putWebhook = async ({ bank, account, params: [key = ''], body }: Call): Promise<Answer> => {
  const { webhookUrl } = readWebhook(body);
  if (!account.client.pixKeys.includes(key))
    refuse('O parâmetro {chave} não corresponde a uma chave DICT pertencente a este usuário recebedor.', 'chave');
  if (!URL.canParse(webhookUrl)) refuse('Campo webhook.webhookUrl não respeita o _schema_.', 'webhook.webhookUrl');
  if (bank.settings.registrationCall && !(await bank.callbacks.test(webhookUrl)))
    refuse('A URL do webhook não respondeu com sucesso à chamada de teste.', 'webhook.webhookUrl');
  account.webhooks.set(key, { key, url: webhookUrl, createdAt: bank.clock.now() });
  return { status: 200, body: { webhookUrl } };
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

/** GET /webhook: the period may be absent. */
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
