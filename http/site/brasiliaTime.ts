// Formats instants for payers in Brazil, in the civil time of America/Sao_Paulo, which texts call "horário de Brasília".
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

/** Returns an instant as `21/11/2026, 10:30`. Throws RangeError if `at` is not an instant. */
export const brasiliaMinute = (at: string): string => SHORT.format(new Date(at));
/** Returns an instant's day as `21/11/2026`. Throws RangeError if `at` is not an instant. */
export const brasiliaDay = (at: string): string =>
  DAY.formatToParts(new Date(at))
    .map(({ value }) => value)
    .join('');
/** Returns an instant as `21 de novembro de 2026, 10:30:15`. */
export const brasiliaSecond = (at: Timestamp): string =>
  `${LONG_DAY.format(new Date(at))}, ${SECOND.format(new Date(at))}`;
