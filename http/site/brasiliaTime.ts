// Instants as a payer in Brazil reads them: civil time of America/Sao_Paulo, which every text calls "horário de Brasília".
import type { Timestamp } from '../../domain/kernel/time.ts';

const timeZone = 'America/Sao_Paulo';
const SHORT = new Intl.DateTimeFormat('pt-BR', {
  timeZone,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const DAY = new Intl.DateTimeFormat('pt-BR', { timeZone, dateStyle: 'short' });
const LONG_DAY = new Intl.DateTimeFormat('pt-BR', { timeZone, dateStyle: 'long' });
const SECOND = new Intl.DateTimeFormat('pt-BR', { timeZone, timeStyle: 'medium' });

/** `21/11/2026, 10:30`. Throws RangeError for what is no instant. */
export const brasiliaMinute = (at: string): string => SHORT.format(new Date(at));
/** `21/11/2026` */
export const brasiliaDay = (at: string): string =>
  DAY.formatToParts(new Date(at))
    .map(({ value }) => value)
    .join('');
/** `21 de novembro de 2026, 10:30:15` */
export const brasiliaSecond = (at: Timestamp): string =>
  `${LONG_DAY.format(new Date(at))}, ${SECOND.format(new Date(at))}`;
