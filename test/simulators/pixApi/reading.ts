// Reads bodies and query parameters. Invalid ones are refused with the violations that the standard lists.
import { Ajv, type SchemaObject } from 'ajv';
import type { ByTime } from './byTime.ts';
import { type ProblemType, problem, type Violation } from './refusal.ts';

const ajv = new Ajv({ allErrors: true, strictTypes: false });
const cents = /^(\d{1,10})\.(\d{2})$/;

/** Returns the centavos of a text that has passed the schema. */
export const centsOf = (text: string): number => Number(text.replace(cents, '$1$2'));
export const AMOUNT: SchemaObject = { type: 'string', pattern: cents.source };

/** Returns a reader for bodies of this shape. It throws the refusal `type` and names fields as `object.field`. */
export const bodyReader = <T>(type: ProblemType, object: string, schema: SchemaObject): ((body: unknown) => T) => {
  const fits = ajv.compile<T>(schema);
  return (body) => {
    if (fits(body)) return body;
    const paths = (fits.errors ?? []).map(
      ({ instancePath, params }) =>
        instancePath.replaceAll('/', '.') +
        (params['missingProperty'] === undefined ? '' : `.${params['missingProperty']}`),
    );
    const violations = [...new Set(paths)].map(
      (path): Violation => ({ razao: `O campo ${object}${path} não respeita o _schema_.`, propriedade: object + path }),
    );
    throw problem(type, ...violations);
  };
};

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const WHOLE = /^\d{1,9}$/;
const ITEMS_MAX = 1_000;
const ITEMS_DEFAULT = 100;

/** Reads query parameters. Throws a refusal of `type` for invalid ones. */
export class Query {
  readonly #values: URLSearchParams;
  readonly #type: ProblemType;

  constructor(values: URLSearchParams, type: ProblemType) {
    this.#values = values;
    this.#type = type;
  }

  refuse(name: string, razao = `O parâmetro ${name} não respeita o _schema_.`): never {
    throw problem(this.#type, { razao, propriedade: name, valor: this.#values.get(name) ?? '' });
  }

  /** Returns the parameter, or null if it is absent. */
  text(name: string, pattern: RegExp): string | null {
    const value = this.#values.get(name);
    if (value !== null && !pattern.test(value)) this.refuse(name);
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.text(name, /^(?:true|false)$/);
    return value === null ? null : value === 'true';
  }

  whole(name: string, least: number, most: number, otherwise: number): number {
    const text = this.text(name, WHOLE);
    const value = text === null ? otherwise : Number(text);
    return value >= least && value <= most ? value : this.refuse(name);
  }

  /** Returns the document in `cpf` or `cnpj`, or null if neither is given. Refuses a request with both. */
  person(): { readonly cpf: string } | { readonly cnpj: string } | null {
    const cpf = this.text('cpf', /^\d{11}$/);
    const cnpj = this.text('cnpj', /^[0-9A-Z]{14}$/);
    if (cpf !== null && cnpj !== null) this.refuse('cpf', 'Os parâmetros cpf e cnpj não podem ser usados juntos.');
    return cpf !== null ? { cpf } : cnpj !== null ? { cnpj } : null;
  }

  /** Returns the time of a required parameter. */
  #time(name: string): number {
    const text = this.text(name, DATE_TIME) ?? this.refuse(name, `O parâmetro ${name} é obrigatório.`);
    const at = Date.parse(text);
    return Number.isNaN(at) ? this.refuse(name) : at;
  }

  period(): {
    readonly from: number;
    readonly to: number;
    readonly wire: { readonly inicio: string; readonly fim: string };
  } {
    const [from, to] = [this.#time('inicio'), this.#time('fim')];
    if (to < from) this.refuse('fim', 'O parâmetro fim é anterior ao parâmetro inicio.');
    return { from, to, wire: { inicio: this.#values.get('inicio') as string, fim: this.#values.get('fim') as string } };
  }

  /** Returns one page of the items, and the page information for the response. */
  page<T>(items: readonly T[]): { readonly items: readonly T[]; readonly wire: object } {
    const page = this.whole('paginacao.paginaAtual', 0, Number.MAX_SAFE_INTEGER, 0);
    const size = this.whole('paginacao.itensPorPagina', 1, ITEMS_MAX, ITEMS_DEFAULT);
    return {
      items: items.slice(page * size, (page + 1) * size),
      wire: {
        paginaAtual: page,
        itensPorPagina: size,
        quantidadeDePaginas: Math.max(1, Math.ceil(items.length / size)),
        quantidadeTotalDeItens: items.length,
      },
    };
  }

  /** Returns one page of the filtered items of a period, and the `parametros` of the response. */
  list<T>(list: ByTime<T>, filter: ((item: T) => boolean) | null, filters: object) {
    const period = this.period();
    const found = list.between(period.from, period.to);
    const page = this.page(filter === null ? found : found.filter(filter));
    return { items: page.items, parametros: { ...period.wire, ...filters, paginacao: page.wire } };
  }
}
