// How an event is made to happen in the sandbox, through the interface, as a merchant and a payer would.
import type { Merchant } from '../demo/merchant.ts';

/** What was made on the way. */
export interface Made {
  readonly chargeId: string;
  /** Ids of what was made besides, by its name. */
  readonly others?: { readonly [name: string]: string };
  /** What the event is about. Default: the charge. */
  readonly aboutId?: string;
  /** By which the account's test clock was advanced. */
  readonly clockAdvancedSeconds?: number;
}

export type Scenario = (merchant: Merchant) => Promise<Made>;

/** The scenarios of a capability, by name of the catalogue. `makes`: the name of what they make besides a charge. */
export interface Triggers {
  readonly makes?: string;
  readonly scenarios: { readonly [event: string]: Scenario };
}

export const rawIdOf = (id: string): string => id.slice(id.indexOf('_') + 1);
