// Names of streams, as people type them.
import { CATEGORIES, readStreamName, type StreamName, streamName } from './event.ts';
import { isRawId, type PaymentId, PREFIX, parseId } from './ids.ts';

/** Takes `payment-<raw>`, an id with or without its prefix of a payment, or `logConsumer-<name>`; null: it names no stream. */
export const parseStreamName = (text: string): StreamName | null => {
  const paymentId = parseId<PaymentId>(text, PREFIX.charge, PREFIX.transaction);
  if (paymentId !== null) return streamName.payment(paymentId);
  const { category, id } = readStreamName(text);
  const isName = category === 'logConsumer' ? /^[\w/]{1,100}$/.test(id) : isRawId(id);
  return (CATEGORIES as readonly string[]).includes(category) && isName ? (text as StreamName) : null;
};
