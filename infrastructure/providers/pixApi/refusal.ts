// Reads why an institution refused a request: a problem of RFC 7807, an OAuth error, Efí's form, or nothing readable at all.
import { isObject, REASON_MAX, shortened, textAt } from './reading.ts';

export interface ProviderRefusal {
  readonly status: number;
  /** One line that contains no secrets and no document of a payer. */
  readonly reason: string;
  /** A stable word, such as `CobOperacaoInvalida`, `txid_duplicado` or `http_400`. */
  readonly code: string;
}

const CODE = /^[\w.-]{1,64}$/;

/** An institution may repeat secrets in an error, as they are or as a form sends them. */
const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .flatMap((secret) => [secret, new URLSearchParams([['', secret]]).toString().slice(1)])
    .reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '***')), text);

/** Digits of a CPF, CNPJ or phone, with or without punctuation. */
const LONG_NUMBER = /\d(?:[\s./-]?\d){7,}/g;

const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ')
    .trim();

/**
 * Returns the refusal without the secrets. The values of `violacoes` are left out, because they repeat the request, and long numbers are
 * masked.
 */
export const refusalOf = (
  { status }: { readonly status: number },
  body: unknown,
  secrets: readonly string[],
): ProviderRefusal => {
  const shown = (name: string): readonly string[] => {
    const text = textAt(body, name);
    return text === null ? [] : [withoutSecrets(text, secrets)];
  };
  const type = shown('type').flatMap((text) => text.split('/').at(-1) ?? []);
  const code = [...type, ...shown('nome'), ...shown('error')].find((text) => CODE.test(text));
  const parts = ['title', 'detail', 'mensagem', 'message', 'error_description'].flatMap(shown);
  const text = [...new Set(parts.map(oneLine))].join(' ').replaceAll(LONG_NUMBER, '***');
  return {
    status,
    reason: text === '' ? `The institution answered with HTTP ${status}.` : shortened(text, REASON_MAX),
    code: code ?? `http_${status}`,
  };
};

/** Returns whether the body is a readable error of the API, and not of a proxy on the way. */
export const isApiError = (body: unknown): boolean =>
  isObject(body) && ['title', 'detail', 'type', 'nome', 'mensagem', 'status'].some((name) => name in body);
