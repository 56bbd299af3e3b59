// The names that an endpoint can subscribe to (contract.md "Event names"). Authoritative: GET /v1/webhooks/event-catalog shows it.

export interface CatalogueEntry {
  readonly event: string;
  readonly description: string;
  readonly legacy?: true;
}

const current = (event: string, description: string): CatalogueEntry => ({ event, description });
const legacy = (event: string, description: string): CatalogueEntry => ({ event, description, legacy: true });

export const EVENT_CATALOGUE: readonly CatalogueEntry[] = [
  current('charge.created', 'Charge created, Pix data generated, awaiting payment.'),
  current('charge.paid', 'Charge paid and confirmed.'),
  current('charge.failed', 'Charge failed or was cancelled.'),
  current('charge.expired', 'Charge expired without payment.'),
  current('payout.created', 'Payout requested.'),
  current('payout.paid', 'Payout settled.'),
  current('payout.failed', 'Payout failed or was rejected.'),
  current('med_case.created', 'A dispute case opened. Carries the full case.'),
  current('med_case.updated', 'A dispute case changed its status, or evidence was requested. Carries the full case.'),
  current('med.resolved', 'Final destination of the disputed money.'),
  legacy('payment.created', 'Payment created.'),
  legacy('payment.completed', 'Payment settled (PAID or APPROVED).'),
  legacy('payment.failed', 'Payment refused, cancelled, expired, charged back or disputed.'),
  legacy('payment.expired', 'Payment expired without being paid.'),
  legacy('payment.refunded', 'A refund was confirmed.'),
  legacy('payment.status_changed', 'The status of a payment changed.'),
  legacy('withdrawal.created', 'Withdrawal requested.'),
  legacy('withdrawal.completed', 'Withdrawal settled.'),
  legacy('withdrawal.failed', 'Withdrawal failed or was rejected.'),
  legacy('withdrawal.status_changed', 'The status of a withdrawal changed.'),
];

const NAMES: ReadonlySet<string> = new Set(EVENT_CATALOGUE.map((entry) => entry.event));
export const isCatalogued = (event: string): boolean => NAMES.has(event);
