// The webhook subscriptions at the time an event is published.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';

/** The webhook subscriptions of each account and mode, as of the event being handled. */
export interface Subscriptions {
  /** Returns the active endpoints of the account and mode. */
  readonly endpoints: (
    account: AccountId,
    mode: Mode,
  ) => readonly { readonly endpointId: string; readonly events: readonly string[] }[];
  /** Returns whether a payment of the account and mode ever had its own webhookUrl (W7). */
  readonly hasWebhookUrls: (account: AccountId, mode: Mode) => boolean;
}
