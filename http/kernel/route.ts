// A route as data: Express, the tests and the OpenAPI document come from the same table.
import type { ReadModelName } from '../../application/ports/readModels.ts';
import type { OpenAccount } from '../../domain/account/account.ts';
import type { CodedProblem } from '../../domain/charge/request.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import type { ErrorCode, Rejection } from '../../domain/kernel/rejection.ts';
import type { JsonSchema } from './jsonSchema.ts';
import type { Services } from './services.ts';

export interface BodyRule {
  readonly schema: JsonSchema;
  /** The code of a problem by the first part of its path; others are `invalid_request`. */
  readonly codes: { readonly [field: string]: ErrorCode };
  /** The code of a field that is not there, where it is not the one of `codes`. */
  readonly missing?: { readonly [field: string]: ErrorCode };
  /** Filled in before anything is judged (the shortcut route's payment_method). */
  readonly fill?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Rules beyond the schema, told together with its problems: fields in which it does not hold are left out, even required ones. */
  readonly refine?: (body: never, judge: ValidationContext) => readonly CodedProblem[];
}

/** What rules beyond the schema may ask. */
export interface ValidationContext {
  readonly mode: Mode;
  readonly services: Services;
}

export interface QueryRule {
  readonly description: string;
  readonly schema: JsonSchema;
  /** The value, or undefined when the text is not one. */
  readonly parse: (text: string) => unknown;
  readonly fallback?: unknown;
  /** The code of a bad value; default `invalid_filter`. */
  readonly code?: ErrorCode;
}

/** Whoever calls with an API key. */
export interface Caller {
  readonly account: OpenAccount;
  readonly tenant: { readonly accountId: OpenAccount['accountId']; readonly mode: Mode };
  /** `key:<first 16 hex characters of its fingerprint>`. */
  readonly actor: string;
}

export interface RouteContext {
  readonly caller: Caller;
  readonly params: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: unknown };
  /** Of the shape of the route's schema. */
  readonly body: unknown;
  /** Only where the route requires one. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  readonly services: Services;
}

export interface RouteResult {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** OpenAPI style: `/v1/charges/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** `testKey`: a live key gets 403 `mode_not_allowed` (rules X). */
  readonly auth: 'none' | 'apikey' | 'testKey';
  /** Not counted by the limit that a sandbox may set itself: it changes that one (E8). */
  readonly isApartFromSandboxLimit?: true;
  /** Requires the Idempotency-Key header (contract.md Charges, rule 1). */
  readonly idempotent?: true;
  /** Waits until these read models have passed what this process knows of; 503 when they have not within a second (architecture §6). */
  readonly reads?: readonly ReadModelName[];
  readonly body?: BodyRule;
  readonly query?: { readonly [name: string]: QueryRule };
  /** Lists that filter or page: a mistyped filter must not return everything (I12). Elsewhere unknown parameters are ignored. */
  readonly refusesUnknownQuery?: true;
  readonly responses: { readonly [status: number]: { readonly description: string; readonly schema: JsonSchema } };
  /** Beyond what authentication and the body's rules imply. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (ask: RouteContext) => Promise<RouteResult | Rejection>;
}
