// Pages of a list, as the standard asks for them (API Pix 2.9.0, parameters paginacao.*). Efí's lists of sent Pix have the same.
import { at, countOf } from './reading.ts';

const PAGE_SIZE = 100;

export const pageQuery = (number: number): Readonly<Record<string, string>> => ({
  'paginacao.paginaAtual': String(number),
  'paginacao.itensPorPagina': String(PAGE_SIZE),
});

/**
 * Returns the number of the next page, or null on the last one. Some institutions leave the paging out of the answer, or a part of it: a
 * full page then has a successor.
 */
export const nextPage = (body: unknown, number: number, items: readonly unknown[]): number | null => {
  const pages = countOf(at(body, 'parametros', 'paginacao', 'quantidadeDePaginas'));
  const hasNext = pages === null ? items.length >= PAGE_SIZE : number + 1 < pages;
  return hasNext && items.length > 0 ? number + 1 : null;
};
