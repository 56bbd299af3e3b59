// Checks that the OpenAPI document declares every response in tests: with a body that matches the schema of its status, or with an error
// code of its operation.

import { expect } from 'chai';
import type { ErrorCode } from '../../domain/kernel/rejection.ts';
import { ROUTES } from '../../http/api/routes.ts';
import { ERRORS } from '../../http/kernel/errors.ts';
import type { ResponseRule, Route } from '../../http/kernel/route.ts';
import { compileResponse } from './compileResponse.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

interface Declared {
  readonly route: Route;
  readonly pattern: RegExp;
  readonly codes: ReadonlySet<ErrorCode>;
  /** Validators by status, compiled on first use. */
  readonly validators: Map<number, ReturnType<typeof compileResponse>>;
}

const known = new WeakMap<readonly Route[], readonly Declared[]>();
// Literal paths precede paths with a parameter that would match them.
const declaredBy = (routes: readonly Route[]): readonly Declared[] => {
  const declared =
    known.get(routes) ??
    routes.map((route) => ({
      route,
      pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      codes: new Set(route.errors),
      validators: new Map(),
    }));
  known.set(routes, declared);
  return declared;
};

/** Returns the route of a request, or undefined if the table has none (other methods, unknown paths). */
const routeOf = (routes: readonly Route[], method: string, path: string): Declared | undefined => {
  const bare = path.split('?')[0] as string;
  const there = declaredBy(routes).filter(({ pattern }) => pattern.test(bare));
  return there[0] && there.find(({ route }) => route.method === method && route.path === there[0]?.route.path);
};

const validatorOf = ({ route, validators }: Declared, status: number) => {
  const response = route.responses[status];
  if (response?.kind !== 'json') return undefined;
  const validate = validators.get(status) ?? compileResponse(response.schema);
  validators.set(status, validate);
  return validate;
};

const contentTypesOf = (response: ResponseRule): readonly string[] => {
  if (response.kind === 'bytes') return response.contentTypes;
  return response.kind === 'page' ? ['text/html'] : response.kind === 'eventStream' ? ['text/event-stream'] : [];
};

/** Fails if the operation doesn't declare the response. */
export const expectDeclared = (method: string, path: string, reply: Answer, routes = ROUTES): void => {
  const declared = routeOf(routes, method, path);
  if (declared === undefined) return;
  const { route, codes } = declared;
  const told = `${route.operationId}: ${reply.status} ${reply.text.slice(0, 1_000)}`;
  const response = route.responses[reply.status];
  if (response !== undefined && response.kind !== 'json') {
    const types = contentTypesOf(response);
    if (types.length > 0) expect(types, told).to.include(reply.headers.get('content-type')?.split(';')[0]);
    return;
  }
  const validate = validatorOf(declared, reply.status);
  if (validate === undefined) {
    // An HTML error page has its code only in the header.
    const [, linked] = /#(.+)>/.exec(reply.headers.get('link') ?? '') ?? [];
    const code = ((reply.body as { error?: { code?: string } })?.error?.code ?? linked) as ErrorCode;
    expect([...codes], told).to.include(code);
    expect(reply.status, told).to.equal(ERRORS[code].status);
    return;
  }
  expect(validate(reply.body), `${told}\n${JSON.stringify(validate.errors)}`).to.equal(true);
  expect(reply.headers.get('content-type'), told).to.equal('application/json; charset=utf-8');
  expect(reply.headers.get('cache-control'), told).to.equal('no-store');
};
