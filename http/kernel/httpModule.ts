// What a capability serves over HTTP: declared once, in its folder of http/api. What depends on all capabilities derives from the list of
// modules (http/api/routes.ts).
import type { JsonSchema } from './jsonSchema.ts';
import type { Route, Tag } from './route.ts';

export interface HttpModule {
  /** Of its folder in http/api, where `npm run docs` writes its examples. */
  readonly name: string;
  /** The chapters of the reference that it adds. */
  readonly chapters: readonly Tag[];
  /** Its routes of the JSON interface: for merchants, in the sandbox, for operators. */
  readonly routes: readonly Route[];
  /** Routes that the OpenAPI document leaves out. */
  readonly undocumentedRoutes: readonly Route[];
  /** Schemas that the OpenAPI document contains once, by name, and refers to. */
  readonly schemas: { readonly [name: string]: JsonSchema };
  /** The bodies of its webhooks, by the first part of the events' names. */
  readonly webhooks: { readonly [family: string]: (event: string) => JsonSchema };
}

export const httpModule = (declared: Pick<HttpModule, 'name' | 'routes'> & Partial<HttpModule>): HttpModule => ({
  chapters: [],
  undocumentedRoutes: [],
  schemas: {},
  webhooks: {},
  ...declared,
});

/** Whether the first route, if it is tried first, matches the requests for the second. */
const covers = ({ path }: Route, { path: covered }: Route): boolean => {
  const words = covered.split('/');
  const pieces = path.split('/');
  const isMatch =
    pieces.length === words.length && pieces.every((piece, n) => piece === words[n] || piece.startsWith('{'));
  return path !== covered && isMatch;
};

/** Returns the routes with each word before a parameter that would match it, and otherwise in the order given. */
export const inMatchingOrder = (routes: readonly Route[]): readonly Route[] =>
  routes.reduce<readonly Route[]>((placed, route) => {
    const at = placed.findIndex((other) => covers(other, route));
    return placed.toSpliced(at === -1 ? placed.length : at, 0, route);
  }, []);
