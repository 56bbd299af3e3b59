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
