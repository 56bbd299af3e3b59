// Pages of a list, in the standard's form (API Pix 2.9.0, parameters paginacao.*). Efí's lists of sent Pix have the same.
import type { Page } from '../../../application/ports/providerConnections.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { at, countOf, ID_MAX } from './reading.ts';

const PAGE_SIZE = 100;

/** A page of a list. `before`: the first id of the page before it; null on the first page. */
interface Place {
  readonly number: number;
  readonly before: string | null;
}

export const placeOf = (cursor: string | null): Place => {
  const [number = '0', before = null] = cursor?.split(' ') ?? [];
  return { number: Number(number), before };
};

export const pageQuery = ({ number }: Place): Readonly<Record<string, string>> => ({
  'paginacao.paginaAtual': String(number),
  'paginacao.itensPorPagina': String(PAGE_SIZE),
});

/**
 * Returns the cursor of the next page, or null on the last one. Some institutions omit the paging or a part of it. A full page then has a
 * successor, unless it repeats the page before it: such an institution ignores page numbers.
 */
export const nextPage = (body: unknown, { number, before }: Place, ids: readonly string[]): string | null => {
  const pages = countOf(at(body, 'parametros', 'paginacao', 'quantidadeDePaginas'));
  const [first] = ids;
  const hasNext = pages === null ? ids.length >= PAGE_SIZE && first !== before : number + 1 < pages;
  return hasNext && first !== undefined ? `${number + 1} ${first}` : null;
};

/** An item of a list. */
interface Reading<T> {
  readonly id: string;
  readonly at: Timestamp | null;
  /** null: the item can't be read. */
  readonly item: T | null;
}

/** An id that is too long is shown in part. */
export const pageOf = <T>(readings: readonly Reading<T>[], next: string | null): Page<T> => ({
  items: readings.flatMap(({ item }) => item ?? []),
  unreadable: readings.flatMap(({ id, at: time, item }) =>
    item === null ? { id: id.slice(0, ID_MAX), at: time } : [],
  ),
  next,
});
