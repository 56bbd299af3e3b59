// The story of a payment as text, in the reader's language.
import type { EventChapter, NotificationChapter, PaymentStory } from '../../../application/audit/paymentStory.ts';
import { formatAmount, type Language } from '../../../domain/presentation/amount.ts';
import { printable } from '../../cli/output.ts';

interface Frame {
  readonly title: (story: PaymentStory) => string;
  readonly caused: (chapter: EventChapter) => string;
  readonly ownUrl: string;
  readonly webhook: (eventType: string, to: string) => string;
  readonly waiting: (eventType: string, to: string) => string;
  readonly ledger: string;
}

const PT_MODES: { readonly [mode: string]: string } = { test: 'modo de teste', live: 'modo de produção' };
const FRAMES: { readonly [L in Language]: Frame } = {
  en: {
    title: ({ paymentId, accountId, mode }) => `Payment ${paymentId} of account ${accountId}, ${mode} mode`,
    caused: ({ actor, requestId, cause }) =>
      `by ${actor}${requestId === null ? `, because of ${cause}` : `, request ${requestId}`}`,
    ownUrl: 'the payment’s own URL',
    webhook: (eventType, to) => `Webhook ${eventType} to ${to}`,
    waiting: (eventType, to) => `Waiting: ${eventType} to ${to}`,
    ledger: 'ledger',
  },
  pt: {
    title: ({ paymentId, accountId, mode }) =>
      `Pagamento ${paymentId} da conta ${accountId}, ${PT_MODES[mode] ?? mode}`,
    caused: ({ actor, requestId, cause }) =>
      `por ${actor}${requestId === null ? `, por causa de ${cause}` : `, requisição ${requestId}`}`,
    ownUrl: 'a URL própria do pagamento',
    webhook: (eventType, to) => `Webhook ${eventType} para ${to}`,
    waiting: (eventType, to) => `Em espera: ${eventType} para ${to}`,
    ledger: 'lançamento',
  },
};

const chapterText = (chapter: EventChapter | NotificationChapter, language: Language): string => {
  const { caused, ownUrl, webhook: headOf, ledger } = FRAMES[language];
  const sentence = chapter.words[language];
  if (chapter.kind === 'notification') return `${chapter.at}  ${printable(sentence)}`;
  const { at, webhook, type, stream, revision, postings } = chapter;
  const head = webhook ? `${headOf(webhook.eventType, webhook.endpointId ?? ownUrl)}: ` : '';
  return [
    `${at}  ${printable(head + sentence)}`,
    `    ${type} ${stream}@${revision}, ${printable(caused(chapter))}`,
    ...postings.map(
      ({ account, currency, amount, what }) =>
        `    ${ledger}: ${account} ${amount > 0 ? '+' : ''}${formatAmount(amount, currency, language)} (${what[language]})`,
    ),
  ].join('\n');
};

/** Returns the story: a title, a paragraph for each chapter, and a line for each message that waits for its first attempt. */
export const storyText = (story: PaymentStory, language: Language): string => {
  const { title, waiting, ownUrl } = FRAMES[language];
  return [
    title(story),
    ...story.chapters.map((chapter) => chapterText(chapter, language)),
    ...story.waiting.map(({ eventType, endpointId }) => waiting(eventType, endpointId ?? ownUrl)),
  ].join('\n');
};
