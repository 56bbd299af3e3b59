// What webhooks know of the subscriptions when an event is published.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';

/** The webhook subscriptions of each account and mode, as of the event that is reacted to. */
export interface Subscriptions {
  /** Active endpoints of the account and mode. */
  readonly endpoints: (
    account: AccountId,
    mode: Mode,
  ) => readonly { readonly endpointId: string; readonly events: readonly string[] }[];
  /** Whether a payment of the account and mode ever had a webhookUrl of its own (W7). */
  readonly hasWebhookUrls: (account: AccountId, mode: Mode) => boolean;
}
