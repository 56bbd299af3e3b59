// The history of a payment as text, in English and Portuguese.
import { expect } from 'chai';
import type { EventChapter, NotificationChapter, PaymentStory } from '../../../application/audit/paymentStory.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { storyText } from '../../../infrastructure/audit/commands/storyText.ts';

const AT = '2026-11-28T12:00:00.000Z';
const notification: NotificationChapter = {
  kind: 'notification',
  at: AT,
  reference: 'E1',
  outcome: null,
  words: { en: 'Something came.', pt: 'Algo chegou.' },
};
const attempt: EventChapter = {
  kind: 'event',
  at: AT,
  stream: 'webhookDelivery-1' as StreamName,
  revision: 0,
  type: 'WebhookDeliverySucceeded',
  words: { en: 'It worked.', pt: 'Deu certo.' },
  actor: 'system',
  requestId: null,
  cause: 'payment-1@2',
  postings: [
    { account: 'platform_fees', currency: 'BRL', amount: 123_456, what: { en: 'a gain', pt: 'um ganho' } },
    { account: 'provider_clearing', currency: 'BRL', amount: -123_456, what: { en: 'a debt', pt: 'uma dívida' } },
  ],
  webhook: { eventType: 'charge.paid', endpointId: null },
};
const story: PaymentStory = {
  paymentId: 'tx_1',
  accountId: 'acct_1',
  mode: 'live',
  chapters: [notification, attempt],
  waiting: [
    { eventType: 'charge.paid', endpointId: 'we_1' },
    { eventType: 'charge.refunded', endpointId: null },
  ],
};

describe('storyText', () => {
  it('writes the story in English', () => {
    expect(storyText(story, 'en').split('\n')).to.deep.equal([
      'Payment tx_1 of account acct_1, live mode',
      `${AT}  Something came.`,
      `${AT}  Webhook charge.paid to the payment’s own URL: It worked.`,
      '    WebhookDeliverySucceeded webhookDelivery-1@0, by system, because of payment-1@2',
      '    ledger: platform_fees +R$ 1,234.56 (a gain)',
      '    ledger: provider_clearing -R$ 1,234.56 (a debt)',
      'Waiting: charge.paid to we_1',
      'Waiting: charge.refunded to the payment’s own URL',
    ]);
  });

  it('writes the story in Portuguese', () => {
    expect(storyText(story, 'pt').split('\n')).to.deep.equal([
      'Pagamento tx_1 da conta acct_1, modo de produção',
      `${AT}  Algo chegou.`,
      `${AT}  Webhook charge.paid para a URL própria do pagamento: Deu certo.`,
      '    WebhookDeliverySucceeded webhookDelivery-1@0, por system, por causa de payment-1@2',
      '    lançamento: platform_fees +R$ 1.234,56 (um ganho)',
      '    lançamento: provider_clearing -R$ 1.234,56 (uma dívida)',
      'Em espera: charge.paid para we_1',
      'Em espera: charge.refunded para a URL própria do pagamento',
    ]);
  });
});
