// Reads the attempts of a delivery and their results (rule W8).
import { reading } from '../../domain/kernel/eventGroups.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { WEBHOOK_DELIVERY, type WebhookDeliveryEvent } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { CommandHandler } from '../core/commandHandler.ts';

export interface Attempt {
  /** 1-based. */
  readonly number: number;
  readonly at: Timestamp;
  readonly statusCode: number | null;
  /** null if the attempt succeeded. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** Returns the attempts of a delivery, in order. */
export const attemptsOf =
  ({ commands }: { readonly commands: Pick<CommandHandler, 'loadSteps'> }) =>
  async (id: DeliveryId): Promise<readonly Attempt[]> => {
    const attempts: Attempt[] = [];
    for await (const { event } of commands.loadSteps(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id)))
      attempts.push(...attemptOf(event));
    return attempts;
  };

const isAttempt = reading(WEBHOOK_DELIVERY.groups, { reads: ['attempts'], ignores: ['course', 'erasure'] });

const attemptOf = (event: WebhookDeliveryEvent): readonly Attempt[] => {
  if (!isAttempt(event)) return [];
  const { number, at, statusCode, durationMs } = event.data;
  const error = event.type === 'WebhookDeliveryAttemptFailed' ? event.data.error : null;
  return [{ number, at, statusCode, error, durationMs }];
};
