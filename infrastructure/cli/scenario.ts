// Scenarios that cause an event in the sandbox through the API, acting as merchant and payer.
import type { Merchant } from '../demo/merchant.ts';

/** The objects that a scenario created. */
export interface Made {
  readonly chargeId: string;
  /** Ids of further objects, by their name. */
  readonly others?: { readonly [name: string]: string };
  /** The object that the event is about; by default the charge. */
  readonly aboutId?: string;
  /** How far the account's test clock was advanced. */
  readonly clockAdvancedSeconds?: number;
}

export type Scenario = (merchant: Merchant) => Promise<Made>;

/** The scenarios of a capability, by event name. `makes` names the object that they create besides a charge. */
export interface Triggers {
  readonly makes?: string;
  readonly scenarios: { readonly [event: string]: Scenario };
}

export const rawIdOf = (id: string): string => id.slice(id.indexOf('_') + 1);
