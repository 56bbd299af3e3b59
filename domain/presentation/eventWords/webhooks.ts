// Sentences about webhook endpoints and deliveries.
import type { EventWords } from './words.ts';

const STATUSES = { active: { en: 'active', pt: 'ativo' }, inactive: { en: 'inactive', pt: 'inativo' } } as const;

export const WEBHOOK_SENTENCES = {
  WebhookDeliveryAttemptFailed: ({ number, statusCode, durationMs, nextAttemptAt }) => ({
    en:
      `Attempt ${number} failed: ${statusCode === null ? 'no response' : `status ${statusCode}`} after ${durationMs} ms` +
      `${nextAttemptAt === null ? '' : `; the next one is at ${nextAttemptAt}`}.`,
    pt:
      `A tentativa ${number} falhou: ${statusCode === null ? 'sem resposta' : `status ${statusCode}`} depois de ${durationMs} ms` +
      `${nextAttemptAt === null ? '' : `; a próxima será em ${nextAttemptAt}`}.`,
  }),
  WebhookDeliverySucceeded: ({ number, statusCode, durationMs }) => ({
    en: `Attempt ${number} succeeded: status ${statusCode} after ${durationMs} ms.`,
    pt: `A tentativa ${number} deu certo: status ${statusCode} depois de ${durationMs} ms.`,
  }),
  WebhookDeliveryDeadLettered: () => ({
    en: 'All attempts failed; the delivery was given up.',
    pt: 'Todas as tentativas falharam; a entrega falhou em definitivo.',
  }),
  WebhookDeliveryCancelled: () => ({ en: 'The delivery was cancelled.', pt: 'A entrega foi cancelada.' }),
  WebhookDeliveryRetryRequested: () => ({
    en: 'Another attempt was requested.',
    pt: 'Foi pedida uma nova tentativa.',
  }),
  WebhookEndpointRegistered: ({ events }) => ({
    en: `A webhook endpoint was registered for ${events.join(', ')}.`,
    pt: `Um endpoint de webhooks foi registrado para ${events.join(', ')}.`,
  }),
  WebhookEndpointChanged: ({ status }) => ({
    en: status === null ? 'The webhook endpoint was changed.' : `The webhook endpoint became ${STATUSES[status].en}.`,
    pt:
      status === null ? 'O endpoint de webhooks foi alterado.' : `O endpoint de webhooks ficou ${STATUSES[status].pt}.`,
  }),
  WebhookEndpointSecretRotated: ({ secretVersion }) => ({
    en: `The endpoint’s secret was rotated to version ${secretVersion}.`,
    pt: `O secret do endpoint foi trocado pela versão ${secretVersion}.`,
  }),
  WebhookEndpointDeleted: () => ({
    en: 'The webhook endpoint was deleted.',
    pt: 'O endpoint de webhooks foi excluído.',
  }),
} satisfies Partial<EventWords>;
