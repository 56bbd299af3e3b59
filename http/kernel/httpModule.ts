// The HTTP side of a capability, declared once in its folder of http/api. Everything that depends on all capabilities derives from the list
// of modules (http/api/routes.ts).
import type { JsonSchema } from './jsonSchema.ts';
import type { Route, Tag } from './route.ts';

export interface HttpModule {
  /** The name of its folder in http/api, where `npm run docs` writes its examples. */
  readonly name: string;
  /** The chapters that it adds to the reference. */
  readonly chapters: readonly Tag[];
  /** Its JSON routes for merchants, the sandbox and operators. */
  readonly routes: readonly Route[];
  /** Routes that the OpenAPI document leaves out. */
  readonly undocumentedRoutes: readonly Route[];
  /** Named schemas that the OpenAPI document contains once and references. */
  readonly schemas: { readonly [name: string]: JsonSchema };
  /** Schemas of its webhook bodies, by the first part of the event's name. */
  readonly webhooks: { readonly [family: string]: (event: string) => JsonSchema };
}

export const httpModule = (declared: Pick<HttpModule, 'name' | 'routes'> & Partial<HttpModule>): HttpModule => ({
  chapters: [],
  undocumentedRoutes: [],
  schemas: {},
  webhooks: {},
  ...declared,
});

/** Returns whether the first route, if tried first, would match requests for the second. */
const covers = ({ path }: Route, { path: covered }: Route): boolean => {
  const words = covered.split('/');
  const pieces = path.split('/');
  const isMatch =
    pieces.length === words.length && pieces.every((piece, n) => piece === words[n] || piece.startsWith('{'));
  return path !== covered && isMatch;
};

/** Returns the routes in the given order, except that literal paths precede parameters that would match them. */
export const inMatchingOrder = (routes: readonly Route[]): readonly Route[] =>
  routes.reduce<readonly Route[]>((placed, route) => {
    const at = placed.findIndex((other) => covers(other, route));
    return placed.toSpliced(at === -1 ? placed.length : at, 0, route);
  }, []);
