// The OpenAPI document in the form of the reference: operations and webhooks by group, with references resolved.

interface Node {
  readonly description?: string;
}
export interface Schema extends Node {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}
export interface Parameter extends Node {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}
export interface Content {
  readonly [mediaType: string]: { readonly schema: Schema; readonly example?: unknown };
}
export interface ResponseOf extends Node {
  readonly content?: Content;
  readonly headers?: { readonly [name: string]: Node & { readonly schema: Schema } };
  readonly 'x-codes'?: readonly string[];
}
export interface Scheme extends Node {
  readonly type: 'apiKey' | 'http';
  /** For API keys, the header that carries the key. */
  readonly name?: string;
}
/** An operation with its method and path, or a webhook. */
export interface Operation extends Node {
  readonly kind: 'operation' | 'webhook';
  /** `EVENT` for webhooks. */
  readonly method: string;
  /** For webhooks, the name of the event. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly schemes: readonly Scheme[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: { readonly [status: string]: ResponseOf };
}
export interface Group extends Node {
  readonly name: string;
  readonly operations: readonly Operation[];
}

type Json = { readonly [name: string]: unknown };

/** Returns the value with each `{$ref}` replaced by the component that it names. */
const resolved = (document: Json, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: string };
  if ($ref !== undefined) {
    const named = $ref.slice(2).split('/');
    return resolved(
      document,
      named.reduce<unknown>((at, name) => (at as Json)[name], document),
    );
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolved(document, part)]));
};

/** Returns the groups of the document in the order of its tags. */
export const groupsOf = (document: Json): readonly Group[] => {
  const { paths, webhooks, tags, components } = document as {
    paths: { [path: string]: { [method: string]: Json } };
    webhooks: { [event: string]: { post: Json } };
    tags: readonly { name: string; description: string }[];
    components: { securitySchemes: { [name: string]: Scheme } };
  };
  const operation = (kind: Operation['kind'], method: string, path: string, raw: Json): Operation => {
    const found = resolved(document, raw) as Operation & { tags: readonly string[]; security: readonly object[] };
    const schemes = found.security.flatMap((each) => Object.keys(each)).map((name) => components.securitySchemes[name]);
    return { ...found, kind, method, path, tag: found.tags[0] ?? '', schemes: schemes as readonly Scheme[] };
  };
  const all = [
    ...Object.entries(paths).flatMap(([path, there]) =>
      Object.entries(there).map(([method, raw]) => operation('operation', method.toUpperCase(), path, raw)),
    ),
    ...Object.entries(webhooks).map(([event, { post }]) => operation('webhook', 'EVENT', event, post)),
  ];
  return tags.map(({ name, description }) => ({
    name,
    description,
    operations: all.filter(({ tag }) => tag === name),
  }));
};
