import type { Rejection } from '../../domain/kernel/rejection.ts';

/** An error answer, with headers of its own. */
export interface Refusal extends Rejection {
  readonly headers?: { readonly [name: string]: string };
}
